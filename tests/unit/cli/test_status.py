"""`campaigns status`, run as a command against an API server on the loopback."""

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from unit.cli.commands import (
    CAMPAIGN,
    SETTINGS,
    UNNAMED,
    run,
    write_kubeconfig,
    write_repository,
)
from unit.cluster.api_server import ApiServer, Object, Request, serve
from unit.reconcile.namespace_store import Namespace

from converter.cli import status
from converter.cluster.client import Client


@dataclass
class Site:
    """A repository whose campaign `letters` has ended, and its namespace."""

    repo: Path
    kubeconfig: Path
    namespace: Namespace
    api: ApiServer

    def status(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run("status", self.repo, "--kubeconfig", self.kubeconfig, *arguments, **variables)

    def names(self, *arguments: str) -> list[str]:
        done = self.status("--format", "json", *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return [found["name"] for found in json.loads(done.stdout)["campaigns"]]


def ended(job: Object) -> None:
    job["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    job["status"] = {
        "completedIndexes": "0-1",
        "conditions": [{"type": "Complete", "status": "True"}],
    }


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    namespace = Namespace()
    with serve(namespace) as api:
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        made = Site(write_repository(tmp_path / "repo"), kubeconfig, namespace, api)
        run("apply", made.repo, "--kubeconfig", kubeconfig, "--pause-wait", "1")
        ended(namespace.job("letters"))
        api.requests.clear()
        yield made


def test_the_lists_of_volumes_are_not_read(site: Site) -> None:
    assert site.names() == ["letters"]
    assert {request.path.rpartition("/")[2]: request.query for request in site.api.requests} == {
        "jobs": {"limit": "500", "labelSelector": "gitops-campaigns.io/role=campaign"},
        "configmaps": {"limit": "100", "labelSelector": "gitops-campaigns.io/role=status"},
        "workloads": {"limit": "500", "labelSelector": "kueue.x-k8s.io/job-uid"},
    }


def test_one_campaign(site: Site) -> None:
    write_repository(site.repo, {"campaigns/maps.yaml": CAMPAIGN.replace("A", "M")})
    assert site.names() == ["letters", "maps"]
    assert site.names("maps") == ["maps"]


def test_one_campaign_that_is_on_the_cluster_only(site: Site) -> None:
    (site.repo / "campaigns/letters.yaml").unlink()
    assert site.names("letters") == ["letters"]


def test_a_campaign_that_is_nowhere_is_wrong_usage(site: Site) -> None:
    done = site.status("lettres")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no campaign lettres in {site.repo} or on the cluster" in done.stderr


def test_a_document_cannot_be_watched(site: Site) -> None:
    done = site.status("--watch", "--format", "json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--watch has no --format json" in done.stderr
    assert site.api.requests == []


@pytest.mark.parametrize("options", [(), ("--watch",)], ids=["once", "watched"])
def test_ages_are_by_the_clock_of_the_api_server(site: Site, options: tuple[str, ...]) -> None:
    assert site.api.now is not None
    site.api.now += timedelta(minutes=10)
    done = site.status(*options)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2/2" in done.stdout.splitlines()[-1]
    assert " 10m" in done.stdout.splitlines()[-1]


def test_a_watched_campaign_has_a_line_for_each_change(site: Site) -> None:
    done = site.status("--watch")
    assert done.stdout.splitlines()[0] == "letters: Finished, 2/2 done, 0 failed"


def in_turn(site: Site, *moves: Callable[[Object], None]) -> None:
    """What becomes of the campaign's Job, before one list of Jobs after the other."""
    left = list(moves)

    def change(request: Request) -> None:
        if request.path.endswith("/jobs") and left:
            left.pop(0)(site.namespace.job("letters"))

    site.namespace.refuses = change


def waits(job: Object) -> None:
    job["spec"]["suspend"], job["status"] = True, {}


def runs(job: Object) -> None:
    job["spec"]["suspend"], job["status"] = False, {"active": 1, "ready": 1}


NO_PLACES = "note: without a watch the places in the queue are not read, so PLACE says nothing\n"


@pytest.mark.parametrize(
    ("options", "phases", "told"),
    [
        ((), ["Running", "Waiting", "Running", "Finished"], NO_PLACES),
        (("--select", "phase=Running"), ["Running"], ""),
        (("--select", "phase=Waiting,Finished"), ["Waiting", "Finished"], NO_PLACES),
    ],
)
def test_a_watch_goes_on_until_what_was_asked_for_rests_whatever_phase_is_shown(
    site: Site, options: tuple[str, ...], phases: list[str], told: str
) -> None:
    # It asks in vain whether it may watch, then whether there is such a campaign.
    in_turn(site, runs, runs, runs, waits, runs, ended)
    done = site.status("--watch", *options)
    assert (done.returncode, done.stderr) == (0, told)
    lines = [line for line in done.stdout.splitlines() if line.startswith("letters: ")]
    assert [line.split()[1].removesuffix(",") for line in lines] == phases
    assert site.namespace.job("letters")["status"]["completedIndexes"] == "0-1"


def test_a_record_that_somebody_edited_leaves_the_others_their_rows(site: Site) -> None:
    write_repository(site.repo, {"campaigns/maps.yaml": CAMPAIGN.replace("A", "M")})
    run("apply", site.repo, "--kubeconfig", site.kubeconfig, "--pause-wait", "1")
    record = site.namespace.objects["configmaps"]["campaign-letters-status"]
    record["data"]["startedAt"] = "yesterday"
    del site.namespace.objects["jobs"]["letters"]
    done = site.status()
    assert done.returncode == 0
    assert [line.split()[:2] for line in done.stdout.splitlines()[1:]] == [
        ["letters", "Missing"],
        ["maps", "Waiting"],
    ]
    assert "ConfigMap/campaign-letters-status is not a record that can be read" in done.stdout


def test_the_repository_goes_by_the_same_name_as_in_an_apply(site: Site) -> None:
    write_repository(site.repo, {"converter.yaml": UNNAMED})
    done = site.status(GIT_CEILING_DIRECTORIES=str(site.repo.parent))
    assert done.returncode == 0
    assert "Missing" in done.stdout
    assert "is called repo after its directory" in done.stderr


def test_the_request_timeout_is_that_of_the_settings(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_repository(site.repo, {"converter.yaml": SETTINGS + "apiserver_request_timeout: 7\n"})
    timeouts: list[float] = []

    def noting(self: Client, configuration: Any, *, request_timeout: float = 60.0) -> None:
        timeouts.append(request_timeout)
        make(self, configuration, request_timeout=request_timeout)

    make = Client.__init__
    monkeypatch.setattr(Client, "__init__", noting)
    arguments = [str(site.repo), "--kubeconfig", str(site.kubeconfig)]
    assert CliRunner().invoke(status.command, arguments).exit_code == 0
    assert timeouts == [7.0]


@pytest.mark.parametrize(
    ("selected", "names"),
    [
        ("phase=Finished", ["letters"]),
        ("phase=missing", ["maps"]),
        ("phase=Finished,Missing", ["letters", "maps"]),
        ("phase=Held", []),
    ],
)
def test_campaigns_in_some_phases(site: Site, selected: str, names: list[str]) -> None:
    write_repository(site.repo, {"campaigns/maps.yaml": CAMPAIGN.replace("A", "M")})
    assert site.names("--select", selected) == names


@pytest.mark.parametrize("selected", ["Held", "phase=", "phase=Queued", "name=letters"])
def test_a_selection_that_is_none_is_wrong_usage(site: Site, selected: str) -> None:
    done = site.status("--select", selected)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"'{selected}' is none: write phase= and one of Waiting, " in done.stderr


def test_a_pipe_gets_the_same_rows_as_a_terminal(site: Site) -> None:
    write_repository(site.repo, {"campaigns/maps.yaml": CAMPAIGN.replace("A", "M")})
    plain, styled = site.status(), site.status(FORCE_COLOR="1")
    rows = [line.split() for line in re.sub(r"\x1b\[[0-9;]*m", "", styled.stdout).splitlines()]
    assert [line.split() for line in plain.stdout.splitlines()] == rows


def test_one_campaign_is_told_with_its_causes_and_conditions(site: Site) -> None:
    done = site.status("letters")
    assert done.returncode == 0
    assert "WHY\n  it has finished" in done.stdout
    assert "CONDITIONS" in done.stdout
    assert "Job/letters" in done.stdout
    shown = json.loads(site.status("letters", "--format", "json").stdout)["campaigns"][0]
    assert [each["type"] for each in shown["trouble"]["conditions"]] == ["Complete"]


def test_metrics_are_of_the_same_campaigns(site: Site) -> None:
    done = site.status("--format", "openmetrics")
    assert done.stdout.endswith("# EOF\n")
    assert 'campaign="letters"' in done.stdout


def test_ci_gets_the_table_in_its_summary(site: Site, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    site.status(GITHUB_STEP_SUMMARY=str(summary))
    assert "| letters | Finished |" in summary.read_text()
