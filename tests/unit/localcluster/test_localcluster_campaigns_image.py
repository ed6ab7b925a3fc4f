"""The image of the campaigns command: what it is made of, and what is handed to its build."""

from __future__ import annotations

import configparser
import json
import re
import tarfile
from pathlib import Path

import pytest
from localcluster.buildah import suite_sources
from localcluster.campaigns_image import CHECKOUT, context_files, fingerprint, pip_settings
from localcluster.image import Image, archive_of_layout

import converter


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "converter" / "__pycache__").mkdir(parents=True)
    for name in ("Containerfile", "README.md", "other", "converter/a.py", "converter/b.py"):
        (tmp_path / name).write_text(name)
    (tmp_path / "converter/__pycache__/a.pyc").write_text("compiled")
    (tmp_path / ".dockerignore").write_text("*\n!README.md\n!converter\n**/__pycache__\n")
    return tmp_path


def test_the_build_reads_what_dockerignore_lets_in(checkout: Path) -> None:
    found = [str(path.relative_to(checkout)) for path in context_files(checkout)]
    expected = [".dockerignore", "Containerfile", "README.md", "converter/a.py", "converter/b.py"]
    assert found == expected


@pytest.mark.parametrize("name", ["Containerfile", ".dockerignore", "README.md", "converter/a.py"])
def test_a_changed_file_is_another_image(checkout: Path, name: str) -> None:
    before = fingerprint(checkout)
    path = checkout / name
    path.write_text(path.read_text() + "\n")
    assert fingerprint(checkout) != before


def test_a_renamed_file_is_another_image(checkout: Path) -> None:
    before = fingerprint(checkout)
    (checkout / "converter/a.py").rename(checkout / "converter/c.py")
    assert fingerprint(checkout) != before


@pytest.mark.parametrize("name", ["other", "converter/__pycache__/a.pyc"])
def test_a_file_that_is_not_read_does_not_matter(checkout: Path, name: str) -> None:
    before = fingerprint(checkout)
    (checkout / name).write_text("changed")
    assert fingerprint(checkout) == before


def test_everything_that_is_copied_into_the_build_is_let_in() -> None:
    containerfile = (CHECKOUT / "Containerfile").read_text()
    let_in = {
        line[1:]
        for line in (CHECKOUT / ".dockerignore").read_text().splitlines()
        if line.startswith("!")
    }
    copies = re.findall(r"^COPY (?!--from)(.+) \S+$", containerfile, re.MULTILINE)
    assert {name for copy in copies for name in copy.split()} == let_in


def test_the_label_names_this_version() -> None:
    label = f'org.opencontainers.image.version="{converter.__version__}"'
    assert label in (CHECKOUT / "Containerfile").read_text()


def locked(name: str) -> set[str]:
    """The requirements of a lock: `name==version` and what it is for."""
    lines = (CHECKOUT / name).read_text().splitlines()
    return {line.rstrip(" \\") for line in lines if line[:1].isalnum()}


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-build.lock"])
def test_the_image_has_the_versions_that_are_tested(name: str) -> None:
    pins = {line.split(" ")[0] for line in locked(name)}
    assert pins
    assert pins <= {line.split(" ")[0] for line in locked("requirements-dev.lock")}


def settings(*listed: str) -> tuple[dict[str, str], str]:
    text, certificates = pip_settings(listed)
    parser = configparser.RawConfigParser()
    parser.read_string(text)
    return dict(parser["global"]), certificates


def test_no_setting_of_pip() -> None:
    assert settings() == ({}, "")


def test_settings_of_pip_go_along_and_certificates_are_a_file_of_the_build() -> None:
    listed = ("global.index-url='https://a.example/simple'", "global.cert='/etc/ca.crt'")
    expected = {"index-url": "https://a.example/simple", "cert": "/run/secrets/ca.crt"}
    assert settings(*listed) == (expected, "/etc/ca.crt")


@pytest.mark.parametrize(
    ("listed", "value"),
    [
        (("install.timeout='2'", "global.timeout='1'"), "2"),
        ((":env:.timeout='3'", "global.timeout='1'", "install.timeout='2'"), "3"),
        (("list.timeout='4'", "global.timeout='1'"), "1"),
    ],
)
def test_the_setting_that_pip_goes_by(listed: tuple[str, ...], value: str) -> None:
    assert settings(*listed) == ({"timeout": value}, "")


def test_directories_of_this_machine_are_left_out() -> None:
    assert settings(":env:.find-links='/opt/wheels'") == ({}, "")


def test_several_addresses_stay_several() -> None:
    listed = r"global.extra-index-url='https://a.example\nhttps://b.example'"
    assert settings(listed)[0] == {"extra-index-url": "https://a.example https://b.example"}


def test_the_sources_of_a_base_image() -> None:
    targets = [
        "http://a.example/debian/|bookworm|main|Debian",
        "http://a.example/debian/|bookworm|main|Debian",
        "http://a.example/debian/|bookworm-updates|main|Debian",
        "http://a.example/debian/|bookworm-backports|main|Debian",
        "http://a.example/debian-security/|bookworm-security|main|Debian",
        "https://b.example/|bookworm|main|Somebody",
    ]
    assert suite_sources(targets, "bookworm") == (
        "deb http://a.example/debian/ bookworm main",
        "deb http://a.example/debian/ bookworm-updates main",
        "deb http://a.example/debian-security/ bookworm-security main",
    )


def test_a_layout_becomes_an_archive_with_its_image_alone(tmp_path: Path) -> None:
    blobs = tmp_path / "layout/blobs/sha256"
    blobs.mkdir(parents=True)
    manifest = {"config": {"digest": "sha256:c"}, "layers": [{"digest": "sha256:l"}] * 2}
    texts = {"m": json.dumps(manifest), "c": "config", "l": "layer", "other": "of another image"}
    for name, text in texts.items():
        (blobs / name).write_text(text)
    described = {"mediaType": "of a manifest", "digest": "sha256:m", "size": 1}
    index = {"schemaVersion": 2, "manifests": [described]}
    (tmp_path / "layout/index.json").write_text(json.dumps(index))
    target = tmp_path / "archive.tar"
    image = archive_of_layout(tmp_path / "layout", "x.example/y", "t", target)
    assert image == Image("x.example/y", ("t",), "sha256:m")
    assert {path.name for path in blobs.iterdir()} == {"m", "c", "l"}
    with tarfile.open(target) as tar:
        held = {name.removeprefix("blobs/sha256/") for name in tar.getnames()}
        assert held == {"oci-layout", "index.json", "m", "c", "l"}
        written = tar.extractfile("index.json")
        assert written is not None
        named = json.loads(written.read())["manifests"]
    assert [entry["annotations"]["io.containerd.image.name"] for entry in named] == [
        "x.example/y:t",
        "x.example/y@sha256:m",
    ]
    assert {entry["digest"] for entry in named} == {"sha256:m"}
