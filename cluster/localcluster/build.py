"""Build the cluster's binaries from the pinned Go modules, once a machine and version."""

from __future__ import annotations

import hashlib
import json
import platform
import re
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from localcluster.errors import ClusterError
from localcluster.golang import environment, find_go, required_version
from localcluster.lock import held, whole
from localcluster.paths import MODULES_DIR, cache_dir
from localcluster.progress import Progress

FLAGS = ("-trimpath", "-mod=readonly", "-buildvcs=false")

SIGN_OF_LIFE = 20.0
"""Seconds between two lines about a build that goes on: the longest takes minutes."""

LAST_LINES = 30
"""How many of the lines that `go` prints last are shown when it fails."""


@dataclass(frozen=True)
class Product:
    """One go.mod under modules/: what it pins, and what is taken from it besides its commands.

    `version_variables` are the Go variables that hold the version, `variables` others that are set
    at link time; `extract` maps a name in the cache to a directory of the module's source;
    `renames` maps a command's name to its usual one.
    """

    name: str
    module: str
    version_variables: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    extract: Mapping[str, str] = field(default_factory=dict)
    renames: Mapping[str, str] = field(default_factory=dict)


# Kubernetes' version is in two packages, each with its own major and minor; without it the server
# says v0.0.0-master+$Format:%H$, which Kueue cannot parse and refuses to start with.
KUBERNETES_VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")

PRODUCTS = {
    product.name: product
    for product in (
        Product(
            "helm",
            "helm.sh/helm/v4",
            version_variables=("helm.sh/helm/v4/internal/version.version",),
        ),
        Product("etcd", "go.etcd.io/etcd/server/v3", renames={"server": "etcd"}),
        Product(
            "kubernetes",
            "k8s.io/kubernetes",
            version_variables=tuple(f"{p}.gitVersion" for p in KUBERNETES_VERSION_PACKAGES),
        ),
        Product(
            "kueue",
            "sigs.k8s.io/kueue",
            version_variables=("sigs.k8s.io/kueue/pkg/version.GitVersion",),
            # Kueue writes its visibility server's certificate to /visibility, which it cannot be
            # told to change. A relative path is private to the directory that it is started in.
            variables={"sigs.k8s.io/kueue/pkg/visibility.certDir": "visibility"},
            extract={"config": "config"},
        ),
        Product(
            "kwok",
            "sigs.k8s.io/kwok",
            version_variables=("sigs.k8s.io/kwok/pkg/consts.Version",),
            extract={"kustomize": "kustomize"},
        ),
        Product("jobset", "sigs.k8s.io/jobset", extract={"config": "config"}),
        Product(
            "trainer",
            "github.com/kubeflow/trainer/v2",
            extract={"manifests": "manifests"},
            renames={"trainer-controller-manager": "trainer"},
        ),
    )
}
"""In the order in which they are built: what others wait for first."""


@dataclass(frozen=True)
class Built:
    """A product in the cache: `bin/` and the directories named by `Product.extract`."""

    product: str
    version: str
    path: Path

    def binary(self, name: str) -> Path:
        """The path of one of its commands."""
        return self.path / "bin" / name


def pinned_version(product: Product, go_mod: str) -> str:
    """The version that `go_mod` requires of the product's module, such as `v1.35.4`."""
    found = re.search(rf"^(?:require)?\s*{re.escape(product.module)} (v\S+)", go_mod, re.MULTILINE)
    if found is None:
        raise ClusterError(f"modules/{product.name}/go.mod does not require {product.module}")
    return found[1]


def linker_flags(product: Product, version: str) -> str:
    """The -ldflags that strip symbols and write the version into the binaries."""
    settings = [f"{variable}={version}" for variable in product.version_variables]
    settings += [f"{variable}={value}" for variable, value in product.variables.items()]
    if product.name == "kubernetes":
        major, minor, _ = version.removeprefix("v").split(".", 2)
        for package in KUBERNETES_VERSION_PACKAGES:
            settings += [f"{package}.gitMajor={major}", f"{package}.gitMinor={minor}"]
    return " ".join(["-s", "-w", *(f"-X {setting}" for setting in settings)])


def cache_key(go_mod: str, go_sum: str, ldflags: str, machine: str) -> str:
    """Names what decides the binaries: the sources, how they are built and for which processor.

    The Go release is left out: an upgrade of the machine's Go is no reason to build for minutes.
    """
    parts = (go_mod, go_sum, *FLAGS, ldflags, machine)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def product_in_cache(product: Product) -> Built:
    """Where this product is, or will be once it is built."""
    source = MODULES_DIR / product.name
    go_mod, go_sum = (source / "go.mod").read_text(), (source / "go.sum").read_text()
    version = pinned_version(product, go_mod)
    key = cache_key(go_mod, go_sum, linker_flags(product, version), platform.machine())
    return Built(product.name, version, cache_dir() / f"{product.name}-{version}-{key}")


def build(progress: Progress, *names: str) -> dict[str, Built]:
    """Build what the cache lacks of these products, or of all, and say where each is.

    Raises ClusterError where there is no Go to build with, or where it fails.
    """
    wanted = [product for product in PRODUCTS.values() if not names or product.name in names]
    built = {product.name: product_in_cache(product) for product in wanted}
    for product in wanted:
        _build_product(product, built[product.name], progress)
    return built


def _build_product(product: Product, built: Built, progress: Progress) -> None:
    if built.path.exists():
        return
    cache = built.path.parent
    with held(cache / f".{product.name}.lock", f"a build of {product.name}", progress) as lock:
        if built.path.exists():
            return
        go = _Go(find_go(_required_go(), cache, progress), lock, progress)
        with (
            progress.step(f"building {product.name} {built.version}", slow=True),
            whole(built.path, product.name) as scratch,
        ):
            _compile(product, built.version, go, scratch)


def _required_go() -> tuple[int, ...]:
    return required_version([(MODULES_DIR / name / "go.mod").read_text() for name in PRODUCTS])


def _compile(product: Product, version: str, go: _Go, target: Path) -> None:
    source = MODULES_DIR / product.name
    bin_dir = target / "bin"
    bin_dir.mkdir()
    ldflags = f"-ldflags={linker_flags(product, version)}"
    go.build([*FLAGS, ldflags, f"-o={bin_dir}/", "tool"], source)
    for built_name, usual_name in product.renames.items():
        (bin_dir / built_name).rename(bin_dir / usual_name)
    if product.extract:
        module = go.module_directory(product.module, source)
        for name, directory in product.extract.items():
            # Not copytree's modes: the module cache is read-only.
            shutil.copytree(module / directory, target / name, copy_function=shutil.copyfile)
            for path in ((target / name), *(target / name).rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)


@dataclass(frozen=True)
class _Go:
    """A Go command under the lock of a product; `lock` is its file descriptor."""

    path: Path
    lock: int
    progress: Progress

    def build(self, arguments: list[str], directory: Path) -> None:
        """`go build -v`, which names each package that it compiles, so that they can be counted.

        It is given the lock: where this process is killed it goes on for a while, and another
        build must not begin before it has ended.
        """
        with subprocess.Popen(
            [str(self.path), "build", "-v", *arguments],
            cwd=directory,
            env=environment(),
            stderr=subprocess.PIPE,
            text=True,
            pass_fds=[self.lock],
        ) as process:
            last = self._follow(process.stderr or ())
        if process.returncode:
            raise ClusterError(f"go build failed in {directory}: {last}")

    def _follow(self, lines: Iterable[str]) -> str:
        """Say from time to time how far it is; the last lines that are not packages."""
        packages, said, last = 0, time.monotonic(), deque[str](maxlen=LAST_LINES)
        for line in lines:
            if is_package(line):
                packages += 1
            else:
                last.append(line)
            if time.monotonic() - said > SIGN_OF_LIFE:
                self.progress.say(f"  {packages} packages compiled")
                said = time.monotonic()
        return "".join(last).strip()

    def module_directory(self, module: str, directory: Path) -> Path:
        """Where the source of a module is that the go.mod in `directory` requires."""
        done = subprocess.run(
            [self.path, "mod", "download", "-json", module],
            cwd=directory,
            env=environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ClusterError(f"go mod download failed in {directory}: {done.stderr.strip()}")
        return Path(json.loads(done.stdout)["Dir"])


def is_package(line: str) -> bool:
    """Whether a line of `go build -v` is nothing but the path of a package."""
    return re.fullmatch(r"[\w./~+-]+\n?", line) is not None
