"""`campaigns doctor`, run as a command against an API server on the loopback."""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner
from unit.cli.commands import SETTINGS, UNNAMED, run, write_kubeconfig, write_repository
from unit.cluster.api_server import Answer, ApiServer, failure, serve
from unit.doctor.doctor_site import REVIEWS, FitCluster

from converter.cli import doctor

NOWHERE = "http://127.0.0.1:9"
PAGE = Answer(200, b"<html>log in</html>", {"Content-Type": "text/html"})


@dataclass
class Site:
    """A valid repository outside git, and a cluster that is fit for it."""

    repo: Path
    kubeconfig: Path
    cluster: FitCluster
    api: ApiServer

    def doctor(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run("doctor", self.repo, "--kubeconfig", self.kubeconfig, *arguments, **variables)

    def findings(self, *arguments: str) -> dict[str, str]:
        done = self.doctor("--format", "json", *arguments)
        assert done.stderr == ""
        return {each["check"]: each["status"] for each in json.loads(done.stdout)["findings"]}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    cluster = FitCluster()
    with serve(cluster) as api:
        api.now = datetime.now(UTC)
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        yield Site(write_repository(tmp_path / "repo"), kubeconfig, cluster, api)


def test_a_fit_cluster(site: Site) -> None:
    done = site.doctor()
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[:2] == [
        "API server",
        "  ok       it answers, and knows this identity as ci",
    ]
    assert [line for line in lines if not line.startswith("  ")] == [
        "API server",
        "Kueue",
        "Permissions",
        "Namespace",
        "Queue",
        "Admission",
        "Apply",
        "Repository",
        "28 ok, 1 warning",
    ]


def test_what_is_not_ok_has_its_remedy_below_it(site: Site) -> None:
    site.cluster.documents["/version"] = {"gitVersion": "v1.20.0"}
    done = site.doctor()
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    (place,) = [at for at, line in enumerate(lines) if "  fault  " in line]
    assert "v1.20.0 drops backoffLimitPerIndex" in lines[place]
    assert lines[place + 1] == ("           -> have the cluster upgraded to 1.33 or later")
    assert lines[-1].endswith("1 warning, 1 fault")


def test_colours_only_where_they_are_wanted(site: Site) -> None:
    assert "\x1b" not in site.doctor().stdout
    coloured = site.doctor(FORCE_COLOR="1").stdout
    assert "\x1b[32m" in coloured
    assert "\x1b[32m" not in site.doctor(FORCE_COLOR="1", NO_COLOR="1").stdout


def test_the_document(site: Site) -> None:
    site.cluster.documents["/version"] = {"gitVersion": "v1.20.0"}
    done = site.doctor("--format=json")
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert document["version"] == 1
    assert document["exitCode"] == 1
    assert document["summary"] == {"ok": 27, "warning": 1, "fault": 1, "unknown": 0}
    assert document["findings"][1] == {
        "group": "API server",
        "check": "server-version",
        "status": "fault",
        "found": "Kubernetes v1.20.0 drops backoffLimitPerIndex, so one failed volume would end a "
        "campaign",
        "remedy": "have the cluster upgraded to 1.33 or later",
    }


def test_what_the_identity_is_for_decides_what_is_a_fault(site: Site) -> None:
    site.cluster.denied = (*site.cluster.denied, "jobs/create")
    assert site.findings()["may-apply"] == "warning"
    found = site.findings("--for=apply")
    assert (found["may-apply"], "may-status" in found) == ("fault", False)


def test_an_invalid_repository_is_a_fault_and_the_cluster_is_checked(site: Site) -> None:
    write_repository(site.repo, {"campaigns/letters.yaml": "pipeline: ocr\nvolumes: [{}]\n"})
    found = site.findings()
    assert (found["files"], found["queue"], found["queued-job"]) == ("fault", "ok", "ok")
    done = site.doctor()
    assert done.returncode == 1
    assert "campaigns/letters.yaml:2:" in done.stdout
    assert f"-> correct what `campaigns validate {site.repo}` lists" in done.stdout


def test_without_settings_the_namespace_is_not_checked(site: Site) -> None:
    (site.repo / "converter.yaml").unlink()
    found = site.findings()
    assert (found["files"], found["settings"], found["kueue-api"]) == ("fault", "unknown", "ok")
    assert "queue" not in found
    assert not [path for _, path in site.api.asked() if path == REVIEWS]


def test_a_repository_without_a_name(site: Site) -> None:
    write_repository(site.repo, {"converter.yaml": UNNAMED})
    assert site.findings()["repository-name"] == "warning"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (failure(401, "Unauthorized", "Unauthorized"), "has the token expired? Get a new one"),
        (PAGE, "is not from an API server: <html>log in</html>"),
    ],
)
def test_a_server_that_cannot_be_used_is_one_line(answer: Answer, words: str, site: Site) -> None:
    site.cluster.spoilt["/version"] = answer
    done = site.doctor()
    assert (done.returncode, done.stderr) == (1, "")
    (fault,) = [line for line in done.stdout.splitlines() if "  fault  " in line]
    assert words in fault
    assert "Repository" in done.stdout
    assert "Kueue" not in done.stdout


@pytest.mark.parametrize(
    ("text", "words"),
    [("\x00", "is not a kubeconfig"), ("{}", "no credentials for a cluster")],
)
def test_a_kubeconfig_that_is_none_is_one_line(text: str, words: str, site: Site) -> None:
    site.kubeconfig.write_text(text)
    done = site.doctor()
    assert (done.returncode, done.stderr) == (1, "")
    (fault,) = [line for line in done.stdout.splitlines() if "  fault  " in line]
    assert words in fault


def test_a_server_that_is_not_there_is_one_line(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    kubeconfig = write_kubeconfig(site.kubeconfig, NOWHERE)
    done = CliRunner().invoke(
        doctor.command, [str(site.repo), "--kubeconfig", str(kubeconfig)], standalone_mode=False
    )
    assert done.return_value == 1
    (fault,) = [line for line in done.stdout.splitlines() if "  fault  " in line]
    assert f"no answer from the API server {NOWHERE}" in fault


def test_another_identity_for_holds_has_to_be_usable(site: Site) -> None:
    empty = site.repo.parent / "holder"
    empty.write_text("{}")
    done = site.doctor("--holder-kubeconfig", str(empty), "--probe-holds")
    assert "holds were not tried: " in done.stdout
    assert "correct --holder-kubeconfig" in done.stdout
    assert [each for each in site.api.asked() if "campaigns-doctor-hold" in each[1]] == []
    done = site.doctor("--holder-kubeconfig", str(empty))
    assert done.returncode == 2
    assert "--holder-kubeconfig is for --probe-holds: add that" in done.stderr


def test_a_group_alone(site: Site) -> None:
    site.cluster.documents["/version"] = {"gitVersion": "v1.20.0"}
    done = site.doctor("--only=queue")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert [line for line in lines[:-1] if not line.startswith("  ")] == ["Queue"]
    assert site.findings("--only=queue", "--only=server")["server-version"] == "fault"
    (site.repo / "converter.yaml").unlink()
    assert site.findings("--only=queue").keys() >= {"server-version", "settings", "files"}
    assert site.doctor("--only=queue").returncode == 1


def test_strict_fails_for_a_warning(site: Site) -> None:
    quota = {"cpu": 1, "memory": "1Gi"}
    write_repository(site.repo, {"converter.yaml": f"{SETTINGS}quota: {json.dumps(quota)}\n"})
    assert site.doctor("--only=queue").returncode == 0
    done = site.doctor("--only=queue", "--strict", "--format=json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["exitCode"]) == (1, 1)
    assert document["summary"]["fault"] == 0


def test_every_group_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "doctor.md").read_text()
    named = text.partition("## A group of checks alone")[2].partition("\n## ")[0]
    assert [group for group in doctor.GROUPS if f"`{group}`" not in named] == []
