"""`campaigns diff`, run as a command against an API server on the loopback."""

import json
import os
import pty
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from unit.cli.apply_site import Site, made
from unit.cli.commands import UNNAMED, command_line, environment, run
from unit.cluster.api_server import Answer, Request, failure

from converter.diff.change import Action


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with made(tmp_path) as site:
        yield site


def diff(site: Site, *options: str, **variables: str) -> CompletedProcess[str]:
    return run("diff", site.repo, "--kubeconfig", site.kubeconfig, *options, **variables)


def test_what_apply_would_create_is_shown_and_not_created(site: Site) -> None:
    done = diff(site)
    assert done.returncode == 2
    lines = done.stdout.splitlines()
    shown = [line for line in lines if line.startswith("create: ")]
    targets = ["ConfigMap/pipeline-ocr", "Job/letters", "ConfigMap/campaign-letters"]
    assert shown == [f"create: {target}" for target in targets]
    assert "+++ git/Job/letters" in lines
    assert "+    A1\thttps://archive.example.com/A1" in lines
    assert "differences: 2 to create" in done.stderr
    assert site.namespace.written == []
    assert site.namespace.leases.lease is None


def test_after_apply_there_is_nothing_and_three_lists_are_all_that_is_asked(site: Site) -> None:
    site.apply()
    written = list(site.namespace.written)
    site.api.requests.clear()
    done = diff(site)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no differences\n")
    asked = [(method, path.rpartition("/")[2]) for method, path in site.api.asked()]
    queue = [each for each in asked if each[1] not in ("jobs", "configmaps", "workloads")]
    assert [each for each in asked if each not in queue] == [
        ("GET", "jobs"),
        ("GET", "configmaps"),
        ("GET", "workloads"),
    ]
    # The campaign has no quota yet, so its way to one is read.
    assert {method for method, _ in queue} == {"GET"}
    assert site.namespace.written == written


def test_json(site: Site) -> None:
    done = diff(site, "--format", "json")
    found = json.loads(done.stdout)
    assert list(found) == ["version", "changes", "summary", "exitCode", "error"]
    assert (found["version"], found["exitCode"], found["error"]) == (1, 2, None)
    assert set(found["summary"]) == {action.value for action in Action}
    job = next(change for change in found["changes"] if change["target"] == "Job/letters")
    assert (job["action"], job["campaign"], job["detail"]) == ("create", "letters", "")
    assert job["diff"].startswith("--- /dev/null\n+++ git/Job/letters\n@@ -0,0 +1,")
    assert done.returncode == 2
    assert done.stderr == ""


def test_markdown_goes_to_the_job_summary_too(site: Site, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    done = diff(site, "--format", "markdown", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 2
    assert done.stdout.startswith("### campaigns diff\n")
    assert "```diff\n--- /dev/null\n+++ git/Job/letters\n" in done.stdout
    assert summary.read_text().strip() == done.stdout.strip()


def test_a_summary_that_cannot_be_written_is_a_warning(site: Site, tmp_path: Path) -> None:
    done = diff(site, GITHUB_STEP_SUMMARY=str(tmp_path / "gone" / "summary.md"))
    assert done.returncode == 2
    assert "warning: the job summary " in done.stderr


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({"NO_COLOR": ""}, True)],
)
def test_colours_are_for_terminals(site: Site, variables: dict[str, str], coloured: bool) -> None:
    command = command_line("diff", site.repo, "--kubeconfig", site.kubeconfig)
    ours, theirs = pty.openpty()
    shown = b""
    with subprocess.Popen(
        command,
        env=environment(**{"TERM": "xterm", **variables}),
        stdout=theirs,
        stderr=subprocess.DEVNULL,
    ):
        os.close(theirs)
        with suppress(OSError):
            while read := os.read(ours, 65_536):
                shown += read
    os.close(ours)
    assert b"+++ git/Job/letters" in shown
    assert (b"\x1b[32m+" in shown) is coloured
    assert b"\x1b[" not in diff(site).stdout.encode()


def forbidden(words: str) -> Callable[[Request], Answer | None]:
    def answer(request: Request) -> Answer | None:
        return failure(403, "Forbidden", words) if request.method == "PATCH" else None

    return answer


def test_without_the_permission_to_try_nothing_is_compared(site: Site) -> None:
    site.namespace.refuses = forbidden(
        'configmaps "pipeline-ocr" is forbidden: User "ada" cannot patch resource "configmaps" in '
        'API group "" in the namespace "team"'
    )
    done = diff(site)
    assert (done.returncode, done.stdout) == (1, "")
    [error] = done.stderr.splitlines()
    assert "in namespace team" in error
    assert 'User "ada" cannot patch resource' in error
    assert error.endswith("use the kubeconfig that apply uses")


def test_what_a_policy_refuses_is_a_difference(site: Site) -> None:
    site.namespace.refuses = forbidden('admission webhook "w" denied the request: no such image')
    done = diff(site)
    assert done.returncode == 2
    words = 'Forbidden: admission webhook "w" denied the request: no such image'
    assert f"refused: ConfigMap/pipeline-ocr: {words}" in done.stdout.splitlines()


def invalid(site: Site) -> None:
    site.write("campaigns/letters.yaml", "pipeline: orc\nvolumes: [A1]\n")


def without_credentials(site: Site) -> None:
    site.kubeconfig.write_text("contexts: 5\n")


def without_an_answer(site: Site) -> None:
    site.namespace.writes_left = 0


FAILURES = [
    (invalid, "Found 1 error in 1 file."),
    (without_credentials, "is not a kubeconfig"),
    (without_an_answer, "is not from an API server"),
]


@pytest.mark.parametrize(("prepare", "error"), FAILURES)
def test_a_failure_is_1_and_in_the_document(
    site: Site, prepare: Callable[[Site], None], error: str
) -> None:
    prepare(site)
    done = diff(site, "--format", "json")
    assert done.returncode == 1
    assert error in done.stderr
    found = json.loads(done.stdout)
    assert (found["exitCode"], found["changes"]) == (1, [])
    assert error in found["error"]
    commented = diff(site, "--format", "markdown").stdout
    assert "**Not compared:**" in commented


@pytest.mark.parametrize("options", [("--purne",), ("--format", "yaml"), ("--kubeconfig", "/no")])
def test_wrong_usage_is_not_taken_for_a_difference(site: Site, options: tuple[str, ...]) -> None:
    done = run("diff", site.repo, *options)
    assert done.returncode == 1
    assert done.stderr.startswith("Usage: ")
    assert options[0] in done.stderr


def test_nothing_is_said_of_a_prune_by_a_name_that_another_repository_may_have(site: Site) -> None:
    site.write("converter.yaml", UNNAMED)
    done = diff(site, "--prune", GIT_CEILING_DIRECTORIES=str(site.repo.parent))
    assert done.returncode == 1
    assert "set `repository` in converter.yaml" in done.stderr
    assert site.api.requests == []


def test_a_campaign_that_left_git_stays_until_it_is_pruned(site: Site) -> None:
    site.write("campaigns/maps.yaml", "pipeline: ocr\nvolumes: [M1]\n")
    site.apply()
    (site.repo / "campaigns/maps.yaml").unlink()
    done = diff(site)
    assert (done.returncode, done.stdout) == (0, "")
    assert "stays: campaign maps: still on the cluster though not in git" in done.stderr
    assert "no differences: 1 no longer in git" in done.stderr
    done = diff(site, "--prune")
    assert done.returncode == 2
    assert done.stdout.splitlines() == ["prune: Job/maps", "prune: ConfigMap/campaign-maps"]
    (site.repo / "campaigns/letters.yaml").unlink()
    done = diff(site, "--prune")
    assert "refused: prune: there is no campaign in the repository" in done.stdout
