"""Build the cluster's binaries from the pinned Go modules, once a machine and version."""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from localcluster.errors import ClusterError
from localcluster.golang import Go, environment, find_go, required_version
from localcluster.paths import MODULES_DIR, cache_dir
from localcluster.progress import Progress

FLAGS = ("-trimpath", "-mod=readonly", "-buildvcs=false")


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


def cache_key(go_mod: str, go_sum: str, ldflags: str, go_description: str) -> str:
    """Names everything that decides what the binaries are."""
    parts = (go_mod, go_sum, *FLAGS, ldflags, go_description)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def build(progress: Progress, only: str | None = None) -> dict[str, Built]:
    """Build what the cache lacks, and say where each product is.

    Raises ClusterError where there is no Go, or where it fails.
    """
    cache = cache_dir()
    go_mods = {name: (MODULES_DIR / name / "go.mod").read_text() for name in PRODUCTS}
    go = find_go(required_version(tuple(go_mods.values())), cache, progress)
    wanted = [PRODUCTS[only]] if only else PRODUCTS.values()
    return {p.name: _build_product(p, go_mods[p.name], go, cache, progress) for p in wanted}


def _build_product(product: Product, go_mod: str, go: Go, cache: Path, progress: Progress) -> Built:
    version = pinned_version(product, go_mod)
    source = MODULES_DIR / product.name
    ldflags = linker_flags(product, version)
    key = cache_key(go_mod, (source / "go.sum").read_text(), ldflags, go.description)
    built = Built(product.name, version, cache / f"{product.name}-{key}")
    if built.path.exists():
        return built
    with _lock(cache / f".{product.name}.lock", product.name, progress):
        if built.path.exists():
            return built
        for left_by_a_killed_build in cache.glob(f".{product.name}-build-*"):
            _remove(left_by_a_killed_build)
        scratch = Path(tempfile.mkdtemp(prefix=f".{product.name}-build-", dir=cache))
        try:
            with progress.step(f"building {product.name} {version}", slow=True):
                _compile(product, source, ldflags, go, scratch)
            scratch.chmod(0o755)
            scratch.rename(built.path)
        finally:
            _remove(scratch)
    return built


def _compile(product: Product, source: Path, ldflags: str, go: Go, target: Path) -> None:
    bin_dir = target / "bin"
    bin_dir.mkdir()
    _go(go, ["build", *FLAGS, f"-ldflags={ldflags}", f"-o={bin_dir}/", "tool"], source)
    for built_name, usual_name in product.renames.items():
        (bin_dir / built_name).rename(bin_dir / usual_name)
    if product.extract:
        module = json.loads(_go(go, ["mod", "download", "-json", product.module], source))
        for name, directory in product.extract.items():
            # Not copytree's modes: the module cache is read-only.
            shutil.copytree(
                Path(module["Dir"], directory), target / name, copy_function=shutil.copyfile
            )
            for path in ((target / name), *(target / name).rglob("*")):
                path.chmod(0o755 if path.is_dir() else 0o644)


def _go(go: Go, arguments: list[str], directory: Path) -> str:
    done = subprocess.run(
        [go.path, *arguments],
        cwd=directory,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise ClusterError(
            f"go {arguments[0]} failed in {directory}: {done.stderr.strip()[-2000:]}"
        )
    return done.stdout


def _remove(directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)


@contextmanager
def _lock(path: Path, product: str, progress: Progress) -> Iterator[None]:
    """Hold the lock of one product's build, so that two checkouts do not build it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            progress.say(f"waiting for another build of {product} ...")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
