"""OCI images made of Debian's static busybox, byte for byte the same each time."""

from __future__ import annotations

import hashlib
import io
import json
import platform
import subprocess
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcluster.debian import DebianTools
from localcluster.errors import ClusterError

REPOSITORY = "gitops-campaigns.local/busybox"
SANDBOX_REPOSITORY = "gitops-campaigns.local/pause"
STABLE_TAG = "stable"
"""A tag that names the image whatever version of busybox Debian has."""

USER = 1000
"""Whom the image runs as, so that a pod with runAsNonRoot need not name anyone."""

PATH = "/bin:/sbin:/usr/bin:/usr/sbin"

ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}

DIRECTORIES = {"dev": 0o755, "etc": 0o755, "home": 0o755, "proc": 0o755, "root": 0o700}
DIRECTORIES |= {"run": 0o755, "sys": 0o755, "tmp": 0o1777, "var": 0o755, "var/tmp": 0o1777}

FILES = {
    "etc/passwd": (
        "root:x:0:0:root:/root:/bin/sh\n"
        f"user:x:{USER}:{USER}:user:/home:/bin/sh\n"
        "nobody:x:65534:65534:nobody:/:/bin/false\n"
    ),
    "etc/group": f"root:x:0:\nuser:x:{USER}:\nnogroup:x:65534:\n",
    # Without it busybox asks for every name over the network first.
    "etc/nsswitch.conf": "hosts: files dns\n",
}


@dataclass(frozen=True)
class Image:
    """An image in an archive: its names, and the digest of its manifest (`sha256:...`)."""

    repository: str
    tags: tuple[str, ...]
    digest: str

    @property
    def by_digest(self) -> str:
        """The reference that pins it, as campaigns have it."""
        return f"{self.repository}@{self.digest}"

    @property
    def references(self) -> tuple[str, ...]:
        """Every reference that the node resolves."""
        return (*(f"{self.repository}:{tag}" for tag in self.tags), self.by_digest)


@dataclass(frozen=True)
class Recipe:
    """An image to make: one layer and what it runs. `tags` are those that it is known by."""

    repository: str
    tags: tuple[str, ...]
    layer: bytes
    config: Mapping[str, Any]


def layer(busybox: bytes, applets: Iterable[str]) -> bytes:
    """The root file system as a tar: busybox, a link for each applet, and a few files.

    `applets` are paths without a leading slash, such as `usr/bin/env`. Not compressed, since what
    a compressor makes differs from one version of zlib to the next.
    """
    links = {path: "/bin/busybox" for path in applets if path != "bin/busybox"}
    directories = DIRECTORIES | {
        str(parent): 0o755
        for path in (*links, "bin/busybox")
        for parent in Path(path).parents
        if str(parent) != "." and str(parent) not in DIRECTORIES
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, mode in sorted(directories.items()):
            _add(tar, name, tarfile.DIRTYPE, mode)
        _add(tar, "bin/busybox", tarfile.REGTYPE, 0o755, busybox)
        for name, target in sorted(links.items()):
            _add(tar, name, tarfile.SYMTYPE, 0o777, link=target)
        for name, text in sorted(FILES.items()):
            _add(tar, name, tarfile.REGTYPE, 0o644, text.encode())
    return buffer.getvalue()


def archive(recipes: Sequence[Recipe], architecture: str) -> tuple[bytes, tuple[Image, ...]]:
    """An OCI image layout as a tar, and the images in it.

    Each image is listed under all its references, the one with its digest too, since containerd
    finds an image that is not in a registry by its exact reference only.
    """
    blobs: dict[str, bytes] = {}
    entries: list[dict[str, Any]] = []
    images: list[Image] = []

    def blob(media_type: str, content: bytes) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    for recipe in recipes:
        layer_blob = blob("application/vnd.oci.image.layer.v1.tar", recipe.layer)
        config = {
            "architecture": architecture,
            "os": "linux",
            "config": recipe.config,
            "rootfs": {"type": "layers", "diff_ids": [layer_blob["digest"]]},
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "config": blob("application/vnd.oci.image.config.v1+json", _json(config)),
            "layers": [layer_blob],
        }
        described = blob("application/vnd.oci.image.manifest.v1+json", _json(manifest))
        described["platform"] = {"architecture": architecture, "os": "linux"}
        image = Image(recipe.repository, recipe.tags, described["digest"])
        images.append(image)
        entries += [
            {**described, "annotations": {"io.containerd.image.name": reference}}
            for reference in image.references
        ]
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": entries,
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        version = {"imageLayoutVersion": "1.0.0"}
        _add(tar, "oci-layout", tarfile.REGTYPE, 0o644, _json(version))
        _add(tar, "index.json", tarfile.REGTYPE, 0o644, _json(index))
        for digest, content in sorted(blobs.items()):
            _add(tar, f"blobs/sha256/{digest}", tarfile.REGTYPE, 0o644, content)
    return buffer.getvalue(), tuple(images)


def archive_of_layout(layout: Path, repository: str, tag: str, target: Path) -> Image:
    """Write the one image of an OCI image layout as an archive, and say what it is called now.

    Blobs of other images are left out, and deleted. As in `archive`, the image is listed under each
    of its references.
    """
    (described,) = json.loads((layout / "index.json").read_text())["manifests"]
    image = Image(repository, (tag,), described["digest"])
    manifest = json.loads(_blob(layout, described["digest"]).read_text())
    named = {each["digest"] for each in (described, manifest["config"], *manifest["layers"])}
    entries = [
        {**described, "annotations": {"io.containerd.image.name": reference}}
        for reference in image.references
    ]
    index = {"schemaVersion": 2, "manifests": entries}
    with tarfile.open(target, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        version = {"imageLayoutVersion": "1.0.0"}
        _add(tar, "oci-layout", tarfile.REGTYPE, 0o644, _json(version))
        _add(tar, "index.json", tarfile.REGTYPE, 0o644, _json(index))
        for path in sorted((layout / "blobs" / "sha256").iterdir()):
            if f"sha256:{path.name}" in named:
                tar.add(path, f"blobs/sha256/{path.name}")
            else:
                path.unlink()
    return image


def _blob(layout: Path, digest: str) -> Path:
    return layout / "blobs" / "sha256" / digest.removeprefix("sha256:")


def busybox_archive(tools: DebianTools) -> tuple[bytes, Image, Image]:
    """The archive with the busybox image and with the one of the pods' sandboxes."""
    listing = subprocess.run(
        [tools.busybox, "--list-full"], capture_output=True, text=True, check=True
    )
    root = layer(tools.busybox.read_bytes(), listing.stdout.split())
    environment = [f"PATH={PATH}"]
    recipes = (
        Recipe(
            REPOSITORY,
            (STABLE_TAG, tools.busybox_version),
            root,
            {"User": f"{USER}:{USER}", "Env": environment, "Cmd": ["/bin/sh"], "WorkingDir": "/"},
        ),
        Recipe(
            SANDBOX_REPOSITORY,
            (STABLE_TAG,),
            root,
            {"User": f"{USER}:{USER}", "Env": environment, "Entrypoint": ["/bin/sleep", "inf"]},
        ),
    )
    content, (busybox, sandbox) = archive(recipes, architecture(platform.machine()))
    return content, busybox, sandbox


def architecture(machine: str) -> str:
    """OCI's word for what the kernel calls a machine; raises ClusterError where it has none."""
    if machine not in ARCHITECTURES:
        known = " or ".join(ARCHITECTURES)
        raise ClusterError(f"no image can be made for {machine}: use a machine with {known}")
    return ARCHITECTURES[machine]


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _add(
    tar: tarfile.TarFile, name: str, kind: bytes, mode: int, content: bytes = b"", link: str = ""
) -> None:
    entry = tarfile.TarInfo(name)
    entry.type = kind
    entry.mode = mode
    entry.size = len(content)
    entry.linkname = link
    entry.mtime = 0
    tar.addfile(entry, io.BytesIO(content))
