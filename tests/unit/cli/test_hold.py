"""`campaigns hold`, `release` and `holds` as commands: their words, documents and exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from unit.cli.commands import run, write_kubeconfig, write_repository
from unit.cluster.api_server import ApiServer, failure, serve
from unit.holds.parts import Server, job, jobs_and_workloads

from converter.names import HOLD_ANNOTATION

CALL = ("--instance", "3", "--deadline", "30s")


@dataclass
class Site:
    """A repository, and the namespace of its campaigns."""

    repo: Path
    kubeconfig: Path
    server: Server
    api: ApiServer

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return run(*arguments, "--kubeconfig", self.kubeconfig, **variables)

    def hold(self, target: str = "letters", *options: str) -> subprocess.CompletedProcess[str]:
        return self.run("hold", target, str(self.repo), *CALL, "--by=ops", *options)

    def release(self, target: str = "letters", *options: str) -> subprocess.CompletedProcess[str]:
        return self.run("release", target, str(self.repo), *CALL, "--by=ops", *options)

    def workload(self, name: str = "job-letters") -> Any:
        return self.server.objects["workloads"][name]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    server = Server()
    with serve(server) as api:
        repo = write_repository(tmp_path / "repo")
        yield Site(repo, write_kubeconfig(tmp_path / "kubeconfig", api.url), server, api)


def test_a_campaign_is_held_shown_and_released(site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters-part1"), job("letters-part2")))
    done = site.hold("letters", "--reason=node a7 is lost")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "held: job/letters-part1: hold 3 on Workload/job-letters-part1",
        "held: job/letters-part2: hold 3 on Workload/job-letters-part2",
    ]
    assert site.hold().stdout.count("already held: job/letters-part") == 2

    shown = site.run("holds", str(site.repo))
    header, first, _ = shown.stdout.splitlines()
    assert header.split() == ["TARGET", "INSTANCE", "SINCE", "BY", "STOPS", "ENFORCED", "REASON"]
    assert first.startswith("job/letters-part1  3         20")
    assert first.endswith("ops  campaign letters, part 1  stopping  node a7 is lost")

    done = site.release()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == (
        "released: job/letters-part1: hold 3 on Workload/job-letters-part1; it is queued again"
    )
    shown = site.run("holds", str(site.repo))
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "", "nothing is held\n")


def test_documents_for_machines(site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters-part1")), job("letters-part2"))
    done = site.hold("letters", "--format=json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    written, rejected = document.pop("parts")
    assert document == {
        "version": 1,
        "action": "hold",
        "target": "letters",
        "instance": 3,
        "outcome": "",
        "error": None,
        "exitCode": 1,
    }
    assert written == {
        "target": "job/letters-part1",
        "object": "Workload/job-letters-part1",
        "outcome": "written",
        "ended": False,
        "inForce": 3,
        "stopped": True,
        "message": "",
        "note": "",
        "runs": False,
    }
    assert (rejected["outcome"], rejected["inForce"]) == ("rejected", None)
    assert "has no Workload" in rejected["message"]

    (held,) = json.loads(site.run("holds", str(site.repo), "--format=json").stdout)["holds"]
    assert (held["target"], held["campaign"], held["part"]) == ("job/letters-part1", "letters", 1)
    assert (held["instance"], held["by"], held["enforced"]) == (3, "ops", "stopping")
    assert held["history"] == [
        {"what": "held", "instance": 3, "at": held["since"], "by": "ops", "reason": ""}
    ]


def test_a_target_that_is_not_there_is_said_in_the_document(site: Site) -> None:
    done = site.hold("maps", "--format=json")
    document = json.loads(done.stdout)
    assert (done.returncode, document["exitCode"], document["parts"]) == (1, 1, [])
    assert document["outcome"] == "rejected"
    assert "no Job of a campaign maps" in document["error"]


def test_one_part_that_fails_is_exit_code_1_and_the_others_are_held(site: Site) -> None:
    site.server.add(job("letters-part1"), *jobs_and_workloads(job("letters-part2")))
    done = site.hold()
    assert done.returncode == 1
    assert done.stdout == "held: job/letters-part2: hold 3 on Workload/job-letters-part2\n"
    assert done.stderr.startswith("error: job/letters-part1: Job/letters-part1 has no Workload")


def test_a_part_that_has_ended_is_told_and_no_failure(site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters-part1", ended=True), job("letters-part2")))
    done = site.hold()
    assert done.returncode == 0
    assert done.stdout.startswith("ended: job/letters-part1: there is nothing to hold\nheld: ")


def test_a_stale_call_names_what_is_in_force(site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters")))
    site.workload()["metadata"]["annotations"] = {HOLD_ANNOTATION: "9"}
    for done in (site.hold(), site.release()):
        assert done.returncode == 1
        assert "hold 9 is in force" in done.stderr
    document = json.loads(site.release("letters", "--format=json").stdout)
    assert (document["parts"][0]["outcome"], document["parts"][0]["inForce"]) == ("stale", 9)


def test_what_a_release_does_not_start_is_said(site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters"), job("maps", "maps")))
    site.workload("job-maps")["spec"]["active"] = False
    annotations = site.server.objects["jobs"]["letters"]["metadata"]["annotations"]
    annotations["gitops-campaigns.io/suspend"] = "true"
    site.hold()
    site.hold("maps")
    assert (
        "; git pauses it, so it stays stopped: take `suspend: true` out of its file and apply to "
        "have it run\n"
    ) in site.release().stdout
    assert "; it was inactive before the hold, and stays so\n" in site.release("maps").stdout


def test_an_event_that_was_not_written_is_a_note(site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters")))
    site.server.refuses = lambda request: (
        failure(403, "Forbidden", "no events") if request.method == "POST" else None
    )
    done = site.hold()
    assert done.returncode == 0
    assert done.stderr.startswith("note: job/letters: no Event tells of it: ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("letters", "--deadline=30s"), "--instance"),
        (("letters", "--instance=3"), "--deadline"),
        (("letters", "--instance=0", "--deadline=30s"), "0 is not in the range"),
        (("letters", "--instance=4294967296", "--deadline=30s"), "is not in the range"),
        (("letters", "--instance=x", "--deadline=30s"), "'x' is not a valid integer"),
        (("letters", "--instance=3", "--deadline=30"), "write for example 30s"),
        (("letters", *CALL, "--reason=a\nb"), "U+000A"),
        (("letters", *CALL, "--by="), "by whom"),
        (("pod/letters", *CALL), "is no target"),
    ],
)
def test_wrong_usage_is_exit_code_2_and_asks_nothing(
    arguments: tuple[str, ...], words: str, site: Site
) -> None:
    done = site.run("hold", *arguments, "--namespace=team")
    assert done.returncode == 2
    assert words in done.stderr
    assert site.api.requests == []


def test_a_namespace_alone_needs_no_repository(site: Site, tmp_path: Path) -> None:
    site.server.add(*jobs_and_workloads(job("letters")))
    done = site.run("hold", "letters", *CALL, "--namespace=team", "--by=ops")
    assert done.returncode == 0, done.stderr
    assert site.workload()["spec"]["active"] is False
    other = site.hold("letters", "--namespace=other")
    assert other.returncode == 1
    assert "--namespace other is not converter.yaml's namespace team" in other.stderr
    nothing = site.run("hold", "letters", str(tmp_path), *CALL)
    assert nothing.returncode == 1
    assert "converter.yaml" in nothing.stderr
    assert "give --namespace" in nothing.stderr


def test_a_mistake_in_a_campaign_file_keeps_nobody_from_a_hold(site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters")))
    write_repository(site.repo, {"campaigns/maps.yaml": "pipeline: [\n"})
    assert site.hold().returncode == 0


@pytest.mark.parametrize(
    ("variables", "by"),
    [
        ({"GITHUB_ACTOR": "maria"}, "maria"),
        ({"GITLAB_USER_LOGIN": "jonas"}, "jonas"),
        ({"LOGNAME": "ops"}, "ops@"),
    ],
)
def test_who_calls_where_nobody_says_so(variables: dict[str, str], by: str, site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters")))
    done = site.run("hold", "letters", str(site.repo), *CALL, **variables)
    assert done.returncode == 0, done.stderr
    written = site.workload()["metadata"]["annotations"]["gitops-campaigns.io/held-by"]
    assert written.startswith(by)
    assert len(written) > len(by) or "@" not in by


def test_what_somebody_wrote_into_annotations_does_nothing_to_a_terminal(site: Site) -> None:
    site.server.add(*jobs_and_workloads(job("letters")))
    site.workload()["metadata"]["annotations"] = {
        HOLD_ANNOTATION: "seven",
        "gitops-campaigns.io/held-by": "\x1b[31meve\n",
        "gitops-campaigns.io/hold-reason": "a\x07b",
    }
    shown = site.run("holds", str(site.repo)).stdout
    assert shown.splitlines()[1].split()[:4] == ["job/letters", "?", "-", "eve"]
    assert "\x1b" not in shown
    assert "\x07" not in shown


def test_nothing_that_asks_a_cluster_is_imported_for_help() -> None:
    code = (
        "import sys; from converter.cli.main import campaigns\n"
        "campaigns.main(['hold', '--help'], standalone_mode=False)\n"
        "assert not {'kubernetes', 'jinja2', 'rich'} & sys.modules.keys(), sys.modules.keys()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
