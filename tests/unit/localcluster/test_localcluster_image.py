"""The image of the real node, and what it is made of."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile

import pytest
from localcluster.debian import tag_of_version
from localcluster.errors import ClusterError
from localcluster.image import Recipe, architecture, archive, layer

LAYER = layer(b"\x7fELF", ["bin/busybox", "bin/sh", "usr/bin/env", "linuxrc"])
RECIPES = (
    Recipe("example.local/a", ("stable", "1.2"), LAYER, {"Cmd": ["/bin/sh"]}),
    Recipe("example.local/b", ("stable",), LAYER, {"Cmd": ["/bin/true"]}),
)


def files(content: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        return {entry.name: entry for entry in tar.getmembers()}


def texts(content: bytes) -> dict[str, bytes]:
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        return {e.name: f.read() for e in tar.getmembers() if (f := tar.extractfile(e))}


def test_a_layer_has_the_applets_as_links_and_their_directories() -> None:
    found = files(LAYER)
    assert found["bin/busybox"].isreg()
    assert found["bin/busybox"].mode == 0o755
    links = {name: entry.linkname for name, entry in found.items() if entry.issym()}
    assert links == dict.fromkeys(("bin/sh", "usr/bin/env", "linuxrc"), "/bin/busybox")
    assert found["usr/bin"].isdir()
    assert found["tmp"].mode == 0o1777


def test_a_directory_comes_before_what_is_in_it() -> None:
    names = [*files(LAYER)]
    assert names.index("usr") < names.index("usr/bin") < names.index("usr/bin/env")


def test_an_archive_is_the_same_each_time() -> None:
    assert archive(RECIPES, "amd64") == archive(RECIPES, "amd64")


def test_an_archive_has_an_entry_for_each_reference() -> None:
    content, images = archive(RECIPES, "amd64")
    index = json.loads(texts(content)["index.json"])
    listed = {
        entry["annotations"]["io.containerd.image.name"]: entry["digest"]
        for entry in index["manifests"]
    }
    first, second = images
    assert listed == {
        "example.local/a:stable": first.digest,
        "example.local/a:1.2": first.digest,
        f"example.local/a@{first.digest}": first.digest,
        "example.local/b:stable": second.digest,
        f"example.local/b@{second.digest}": second.digest,
    }
    assert first.by_digest == f"example.local/a@{first.digest}"


def test_every_digest_is_that_of_its_blob() -> None:
    blobs = {n: c for n, c in texts(archive(RECIPES, "amd64")[0]).items() if n.startswith("blobs/")}
    assert blobs
    for name, blob in blobs.items():
        assert name == f"blobs/sha256/{hashlib.sha256(blob).hexdigest()}"


def test_a_manifest_leads_to_its_layer() -> None:
    content, (image, _) = archive(RECIPES, "arm64")
    found = texts(content)

    def blob(digest: str) -> bytes:
        return found[f"blobs/{digest.replace(':', '/')}"]

    manifest = json.loads(blob(image.digest))
    assert blob(manifest["layers"][0]["digest"]) == LAYER
    config = json.loads(blob(manifest["config"]["digest"]))
    assert (config["architecture"], config["config"]) == ("arm64", {"Cmd": ["/bin/sh"]})


@pytest.mark.parametrize(("machine", "word"), [("x86_64", "amd64"), ("aarch64", "arm64")])
def test_architectures(machine: str, word: str) -> None:
    assert architecture(machine) == word


def test_an_unknown_architecture() -> None:
    with pytest.raises(ClusterError, match="no image can be made for m68k"):
        architecture("m68k")


@pytest.mark.parametrize(
    ("version", "tag"),
    [("1:1.35.0-4+b3", "1.35.0-4-b3"), ("1.36.1~rc1", "1.36.1-rc1"), ("1.37", "1.37")],
)
def test_a_debian_version_as_a_tag(version: str, tag: str) -> None:
    assert tag_of_version(version) == tag
