"""The image of this checkout's campaigns command, built by its Containerfile for the real node."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from localcluster.buildah import BASE, Buildah, ensure_buildah
from localcluster.errors import ClusterError
from localcluster.image import Image, architecture, archive_of_layout
from localcluster.lock import held, whole
from localcluster.paths import cache_dir
from localcluster.progress import Progress

CHECKOUT = Path(__file__).resolve().parents[2]

REPOSITORY = "gitops-campaigns.local/campaigns"

STAGES = ("runtime", "dependencies")
"""Those of the Containerfile that are kept by name, since a new version has them unchanged."""

KEPT = 3
"""How many images are kept, for checkouts that take turns."""

ARCHIVE = "archive.tar"


def ensure_archive(progress: Progress, checkout: Path = CHECKOUT) -> tuple[Path, Image]:
    """The image as an OCI archive, built if the cache does not have it for these very files.

    Raises ClusterError with what was said last where it cannot be built.
    """
    images = cache_dir() / "campaigns-image"
    target = images / f"{fingerprint(checkout)}"
    if not target.exists():
        with held(images / ".lock", "a build of the image", progress):
            if not target.exists():
                _make(target, checkout, progress)
    # The one that was used last is the last to be deleted.
    target.touch()
    value = json.loads((target / "image.json").read_text())
    return target / ARCHIVE, Image(value["repository"], tuple(value["tags"]), value["digest"])


def context_files(checkout: Path) -> list[Path]:
    """The files that the build reads, by the exceptions of its .dockerignore."""
    ignored = checkout / ".dockerignore"
    lines = ignored.read_text().splitlines()
    named = [checkout / line[1:] for line in lines if line.startswith("!")]
    inside = (path for place in named for path in (place, *place.rglob("*")))
    found = {path for path in inside if path.is_file() and "__pycache__" not in path.parts}
    return sorted({*found, ignored, checkout / "Containerfile"})


def fingerprint(checkout: Path) -> str:
    """Changes with whatever the image is made of, but for Debian's packages."""
    content = hashlib.sha256(architecture(platform.machine()).encode())
    for path in context_files(checkout):
        executable = bool(path.stat().st_mode & 0o100)
        content.update(f"\0{path.relative_to(checkout)}\0{executable}\0".encode())
        content.update(hashlib.sha256(path.read_bytes()).digest())
    return content.hexdigest()[:16]


def pip_settings(listed: Iterable[str]) -> tuple[str, str]:
    """A pip.conf of what `pip config list` prints, and the certificates that it named, or "".

    A variable of the environment comes before a file, and `install` before `global`, as in pip.
    Directories of this machine are not there in the build.
    """
    values: dict[str, str] = {}
    rank = {"global": 0, "install": 1, ":env:": 2}
    pairs = [line.partition("=") for line in listed if "=" in line]
    for name, _, quoted in sorted(pairs, key=lambda pair: rank.get(pair[0].split(".")[0], -1)):
        section, _, key = name.partition(".")
        if section in rank:
            values[key] = quoted[1:-1]
    values.pop("find-links", None)
    values.pop("require-virtualenv", None)
    certificates = values.pop("cert", "")
    if certificates:
        values["cert"] = "/run/secrets/ca.crt"
    # What `config list` prints is Python's repr, in which a newline between addresses is \\n.
    lines = (f"{key} = {value.replace(chr(92) + 'n', ' ')}\n" for key, value in values.items())
    return "[global]\n" + "".join(lines), certificates


def _make(target: Path, checkout: Path, progress: Progress) -> None:
    buildah = ensure_buildah(cache_dir() / "image-store", progress)
    buildah.ensure_base(progress)
    with (
        progress.step("image of the campaigns command", slow=True),
        whole(target, "campaigns-image") as scratch,
    ):
        _build(buildah, checkout)
        layout = buildah.store / "layout"
        buildah.export(REPOSITORY, layout)
        image = archive_of_layout(layout, REPOSITORY, target.name, scratch / ARCHIVE)
        (scratch / "image.json").write_text(json.dumps(asdict(image)))
    known = (path for path in target.parent.iterdir() if not path.name.startswith("."))
    for old in sorted(known, key=lambda path: path.stat().st_mtime)[:-KEPT]:
        shutil.rmtree(old)


def _build(buildah: Buildah, checkout: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="campaigns-image-") as directory:
        arguments = (f"--build-arg=BASE={BASE}", *_secrets(Path(directory)))
        for stage in STAGES:
            buildah.build(checkout, *arguments, f"--target={stage}", f"--tag=localhost/{stage}")
        buildah.build(checkout, *arguments, f"--tag={REPOSITORY}")
    buildah.prune()


def _secrets(directory: Path) -> Iterable[str]:
    """The machine's settings of pip, which no layer keeps."""
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    if listed.returncode:
        raise ClusterError(f"pip config list: {listed.stderr.strip()[-400:]}")
    text, certificates = pip_settings(listed.stdout.splitlines())
    (directory / "pip.conf").write_text(text)
    secrets: Mapping[str, str] = {
        "pip.conf": str(directory / "pip.conf"),
        **({"ca.crt": certificates} if certificates else {}),
    }
    return [f"--secret=id={name},src={path}" for name, path in secrets.items()]
