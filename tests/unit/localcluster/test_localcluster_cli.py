"""The command line, as far as it needs no cluster."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from localcluster import cli
from localcluster.debian import require_real_node_support
from localcluster.errors import ClusterError


@pytest.fixture(autouse=True)
def directories(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("CLUSTER", "CLUSTER_MODE"):
        monkeypatch.delenv(name, raising=False)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.cli, arguments)


@pytest.mark.parametrize("command", ["status", "kubeconfig"])
def test_an_instance_that_was_never_started(command: str) -> None:
    with pytest.raises(ClusterError, match="there is no instance 'x': start it with `up`"):
        CliRunner().invoke(cli.cli, [command, "--instance=x"], catch_exceptions=False)


def test_ending_what_was_never_started_is_fine_and_builds_nothing(tmp_path: Path) -> None:
    result = run("down", "--instance=x")
    assert result.exit_code == 0
    assert "there is no instance 'x'" in result.stderr
    assert [path.name for path in (tmp_path / "gitops-campaigns").iterdir()] == [
        path.name for path in (tmp_path / "gitops-campaigns").glob(".x-*.lock")
    ]


def test_a_real_node_without_root_offers_fake_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(ClusterError, match=r"needs root.*make cluster-up CLUSTER_MODE=kwok"):
        require_real_node_support()


def test_a_real_node_without_debian_offers_fake_nodes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=r"no apt-get and no dpkg-deb here.*CLUSTER_MODE=kwok"):
        require_real_node_support()


def test_the_mode_and_the_backend_come_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CLUSTER_MODE", "other")
    assert "'full', 'kwok'" in run("up").stderr
    monkeypatch.setenv("CLUSTER", "other")
    assert "'local', 'kind', 'current'" in run("down").stderr


def test_a_problem_is_one_message_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["localcluster", "status", "--instance=x"])
    with pytest.raises(SystemExit, match="1"):
        cli.main()
    message = "localcluster: there is no instance 'x': start it with `up`\n"
    assert capsys.readouterr().err == message


def test_a_label_without_a_value_is_said() -> None:
    result = run("up", "--label=zone")
    assert isinstance(result.exception, ClusterError)
    assert "write key=value" in str(result.exception)
