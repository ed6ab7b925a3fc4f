"""One instance on disk, and where it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from localcluster import instance
from localcluster.errors import ClusterError
from localcluster.paths import cache_dir, instance_id, state_dir, state_root
from localcluster.spec import KwokNode, Mode, Spec


@pytest.fixture(autouse=True)
def state_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_the_xdg_directories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert cache_dir() == tmp_path / "cache/gitops-campaigns"
    assert state_root() == tmp_path / "gitops-campaigns"


@pytest.mark.parametrize("value", ["", "relative"])
def test_a_relative_xdg_directory_is_ignored(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", value)
    monkeypatch.setenv("XDG_STATE_HOME", value)
    assert cache_dir() == tmp_path / ".cache/gitops-campaigns"
    assert state_root() == tmp_path / ".local/state/gitops-campaigns"


def test_two_checkouts_have_each_their_own_instance() -> None:
    ids = {instance_id("dev", Path(path)) for path in ("/a/cluster", "/b/cluster")}
    assert len(ids) == 2
    assert all(found.startswith("dev-") for found in ids)


def test_an_instance_is_loaded_as_it_was_created() -> None:
    spec = Spec(mode=Mode.KWOK, kwok_nodes=(KwokNode("a"),))
    created = instance.create("one", spec)
    assert instance.load("one") == created
    assert created.directory == state_dir("one")
    assert created.spec == spec


def test_what_it_has_is_for_its_owner_only() -> None:
    created = instance.create("one", Spec())
    assert created.pki.stat().st_mode & 0o777 == 0o700
    assert created.directory.stat().st_mode & 0o777 == 0o700


def test_instances_share_no_port_and_no_subnet() -> None:
    one, two = instance.create("one", Spec()), instance.create("two", Spec())
    assert not set(one.ports.values()) & set(two.ports.values())
    assert one.subnet != two.subnet


def test_instances_share_no_address_of_services() -> None:
    one, two = instance.create("one", Spec()), instance.create("two", Spec())
    assert one.service_range == f"198.18.{one.subnet}.128/26"
    assert one.service_address == f"198.18.{one.subnet}.129"
    assert one.service_address != two.service_address
    assert instance.load("one") == one


def test_an_older_instance_keeps_the_services_that_it_has() -> None:
    created = instance.create("one", Spec())
    file = created.directory / "instance.json"
    state = json.loads(file.read_text())
    del state["service_range"]
    file.write_text(json.dumps(state))
    found = instance.load("one")
    assert found is not None
    assert found.service_address == "10.96.0.1"
    found.save()
    assert instance.load("one") == found


def test_an_older_instance_is_given_the_ports_that_it_lacks() -> None:
    created = instance.create("one", Spec())
    del created.ports["trainer-webhook"]
    created.save()
    found = instance.load("one")
    assert found is not None
    complete = instance.with_every_port(found)
    assert complete.ports.keys() == set(instance.PORT_NAMES)
    assert complete.ports.items() > found.ports.items()
    assert len(set(complete.ports.values())) == len(complete.ports)
    assert instance.load("one") == complete == instance.with_every_port(complete)


def test_there_is_none_before_it_is_created_and_after_it_is_removed() -> None:
    assert instance.load("one") is None
    instance.create("one", Spec()).remove()
    assert instance.load("one") is None


def test_a_damaged_state_file_is_said() -> None:
    created = instance.create("one", Spec())
    (created.directory / "instance.json").write_text('{"ports": {')
    with pytest.raises(ClusterError, match=r"is damaged: .* delete"):
        instance.load("one")


@pytest.mark.parametrize("name", ["", "-a", "A", "a/b", "..", "a" * 25, "a b"])
def test_a_name_that_cannot_be_one(name: str) -> None:
    with pytest.raises(ClusterError, match="is not a name for an instance"):
        instance.load(name)
