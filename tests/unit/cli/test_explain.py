"""`campaigns explain`, run as a command against an API server on the loopback."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from unit.cli.commands import run, write_kubeconfig, write_repository
from unit.cluster.api_server import Answer, Request, failure, serve
from unit.reconcile.live_objects import workload
from unit.reconcile.namespace_store import Namespace


@dataclass
class Site:
    """A repository whose campaign `letters` is on the cluster, and its namespace."""

    repo: Path
    kubeconfig: Path
    namespace: Namespace

    def explain(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        name, *options = arguments
        return run("explain", name, self.repo, "--kubeconfig", self.kubeconfig, *options)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    namespace = Namespace()
    with serve(namespace) as api:
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        made = Site(write_repository(tmp_path / "repo"), kubeconfig, namespace)
        run("apply", made.repo, "--kubeconfig", kubeconfig, "--pause-wait", "1")
        yield made


def deactivate(site: Site) -> None:
    """Kueue's own deactivation of the campaign."""
    job = site.namespace.job("letters")
    job["spec"]["suspend"] = True
    inactive = workload(job, active=False, Evicted="DeactivatedDueToAdmissionCheck")
    inactive["status"]["conditions"][0]["message"] = "rejected"
    site.namespace.add(inactive)


def test_causes_are_numbered_with_details_and_remedies(site: Site) -> None:
    deactivate(site)
    done = site.explain("letters")
    assert (done.returncode, done.stderr) == (0, "")
    head, cause, detail, remedy = done.stdout.splitlines()
    assert head == "letters: Paused, 0/2 done, 0 failed"
    assert cause.startswith("1. Kueue deactivated it (DeactivatedDueToAdmissionCheck)")
    assert detail == "     Kueue says: rejected"
    assert remedy.startswith("   -> ask the platform team")


def test_the_document(site: Site) -> None:
    deactivate(site)
    done = site.explain("letters", "--format", "json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    (cause,) = document.pop("causes")
    assert document == {"version": 1, "campaign": "letters", "phase": "Paused", "unread": []}
    assert sorted(cause) == ["code", "details", "remedy", "sentence"]
    assert cause["code"] == "deactivated"
    assert cause["details"] == ["Kueue says: rejected"]


def test_what_could_not_be_read_is_noted(site: Site) -> None:
    def refuse(request: Request) -> Answer | None:
        return failure(403, "Forbidden") if request.path.endswith(("/pods", "/events")) else None

    site.namespace.refuses = refuse
    job = site.namespace.job("letters")
    job["spec"]["suspend"] = False
    job["status"] = {"active": 2, "ready": 0}
    done = site.explain("letters")
    assert done.returncode == 0
    assert "note: pods: not permitted to read them" in done.stderr


def test_a_campaign_that_is_nowhere_is_wrong_usage(site: Site) -> None:
    done = site.explain("lettres")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"there is no campaign lettres in {site.repo} or on the cluster" in done.stderr
    assert "did you mean letters?" in done.stderr


def test_nothing_is_written(site: Site) -> None:
    before = list(site.namespace.written)
    site.explain("letters")
    assert site.namespace.written == before
