"""`campaigns apply`, run as a command against an API server on the loopback."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from unit.cli.apply_site import Site, made
from unit.cli.commands import FILES, NAMESPACE, REPOSITORY, UNNAMED, command_line, environment
from unit.cluster.api_server import Answer, Request

from converter.reconcile.outcome import Fate

OBJECTS = ["ConfigMap/pipeline-ocr", "ConfigMap/campaign-letters", "Job/letters"]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with made(tmp_path) as site:
        yield site


ALL_WRITTEN = ["configmaps/campaign-letters", "configmaps/pipeline-ocr", "jobs/letters"]


def test_what_was_done_is_printed_and_a_second_run_does_nothing(site: Site) -> None:
    first = site.apply()
    assert (first.returncode, first.stderr) == (0, "")
    lines = first.stdout.splitlines()
    assert sorted(lines[:-1]) == sorted(f"created: {target}" for target in OBJECTS)
    assert site.written == ALL_WRITTEN
    second = site.apply()
    assert second.returncode == 0
    assert len(second.stdout.splitlines()) == 1
    assert site.apply("--verbose").stdout.count("unchanged: ") == 3
    assert site.written == ALL_WRITTEN
    assert site.holder == ""


def document(done: subprocess.CompletedProcess[str]) -> Any:
    found = json.loads(done.stdout)
    assert list(found) == ["version", "events", "summary", "exitCode", "error", "wait"]
    assert found["version"] == 1
    assert found["exitCode"] == done.returncode
    assert set(found["summary"]) == {fate.value for fate in Fate}
    return found


def test_json(site: Site) -> None:
    found = document(site.apply("--format", "json"))
    assert found["error"] is None
    assert found["exitCode"] == 0
    assert sorted(event["target"] for event in found["events"]) == sorted(OBJECTS)
    job = next(event for event in found["events"] if event["target"] == "Job/letters")
    assert (job["fate"], job["detail"], job["campaign"]) == ("created", "", "letters")
    assert found["summary"]["created"] == 1
    assert found["summary"]["held back"] == 0


def test_what_was_held_back_is_told_apart_by_the_exit_code(site: Site) -> None:
    foreign = {"metadata": {"name": "letters", "uid": "1"}, "kind": "Job", "spec": {}}
    site.namespace.add(foreign)
    site.write("campaigns/maps.yaml", "pipeline: ocr\nvolumes: [M1]\n")
    done = site.apply()
    assert done.returncode == 3
    assert done.stderr.startswith("held back: ")
    assert "created: Job/maps" in done.stdout
    assert document(site.apply("--format", "json"))["summary"]["held back"] == 1


def held_by_another(site: Site) -> None:
    assert site.api.now is not None
    site.namespace.leases.take_over("alice@ci", site.api.now - timedelta(seconds=1))


def without_campaigns(site: Site) -> None:
    (site.repo / "campaigns/letters.yaml").unlink()


def invalid(site: Site) -> None:
    site.write("campaigns/letters.yaml", "pipeline: orc\nvolumes: [A1]\n")


def without_credentials(site: Site) -> None:
    site.kubeconfig.write_text("contexts: 5\n")


def cut_off(site: Site) -> None:
    site.namespace.writes_left = 1


@pytest.mark.parametrize(
    ("prepare", "options", "error"),
    [
        (held_by_another, (), "another apply is running: alice@ci holds the Lease"),
        (without_campaigns, ("--prune",), "pass --allow-empty if that is meant"),
        (invalid, (), "Found 1 error in 1 file."),
        (without_credentials, (), "is not a kubeconfig"),
        (cut_off, (), "is not from an API server"),
    ],
)
def test_a_run_that_fails_writes_its_document_too(
    site: Site, prepare: Callable[[Site], None], options: tuple[str, ...], error: str
) -> None:
    prepare(site)
    done = site.apply("--format", "json", *options)
    found = document(done)
    assert found["exitCode"] == 1
    assert error in found["error"]
    assert error in done.stderr
    assert bool(found["events"]) is (prepare is cut_off)


def test_a_run_that_stops_part_way_says_so(site: Site) -> None:
    cut_off(site)
    done = site.apply()
    assert done.returncode == 1
    assert done.stdout == "created: ConfigMap/pipeline-ocr\n"
    stopped, error = done.stderr.splitlines()
    assert stopped.startswith("stopped part-way: ")
    assert stopped.endswith("; apply again to finish")
    assert error.startswith("error: ")


def test_a_dry_run_names_what_is_rendered_and_asks_nobody(site: Site) -> None:
    done = site.apply("--dry-run")
    assert (done.returncode, done.stderr) == (0, "")
    *rendered, last = done.stdout.splitlines()
    assert sorted(rendered) == sorted(f"rendered: {target}" for target in OBJECTS)
    assert last == "nothing was sent: the cluster was not asked"
    assert site.api.requests == []


@pytest.mark.parametrize("options", [("--prune",), ("--format", "json")], ids=" ".join)
def test_a_dry_run_cannot_say_what_needs_the_cluster(site: Site, options: tuple[str, ...]) -> None:
    done = site.apply("--dry-run", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--dry-run asks no cluster" in done.stderr


def outside_git(site: Site) -> dict[str, str]:
    return {"GIT_CEILING_DIRECTORIES": str(site.repo.parent)}


def test_nothing_is_pruned_by_a_name_that_another_repository_may_have(site: Site) -> None:
    site.write("converter.yaml", UNNAMED)
    done = site.apply("--prune", **outside_git(site))
    assert done.returncode == 1
    assert "set `repository` in converter.yaml" in done.stderr
    assert site.api.requests == []


def test_a_name_that_is_guessed_is_warned_of(site: Site) -> None:
    site.write("converter.yaml", UNNAMED)
    done = site.apply(**outside_git(site))
    assert done.returncode == 0
    [warning] = done.stderr.splitlines()
    assert warning.startswith("warning: there is no `repository` in converter.yaml")
    assert "is called repo after its directory" in warning
    annotations = site.namespace.job("letters")["metadata"]["annotations"]
    assert annotations["gitops-campaigns.io/repository"] == "repo"


def test_a_repository_that_git_may_not_read_gets_no_name_of_its_directory(site: Site) -> None:
    subprocess.run(["git", "init", "--quiet", str(site.repo)], check=True)
    site.write("converter.yaml", UNNAMED)
    done = site.apply(GIT_TEST_ASSUME_DIFFERENT_OWNER="1")
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: git cannot read {site.repo}: fatal: detected dubious")
    assert site.api.requests == []
    site.write("converter.yaml", FILES["converter.yaml"])
    assert site.apply(GIT_TEST_ASSUME_DIFFERENT_OWNER="1").returncode == 0
    annotations = site.namespace.job("letters")["metadata"]["annotations"]
    assert annotations["gitops-campaigns.io/repository"] == REPOSITORY


def test_another_namespace_is_refused(site: Site) -> None:
    done = site.apply("--namespace", "other")
    assert done.returncode == 1
    assert done.stderr == (
        f"error: --namespace other is not converter.yaml's namespace {NAMESPACE}; "
        "nothing was sent\n"
    )


def test_the_run_goes_on_when_nobody_reads_any_more(site: Site) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command_line(*site.arguments()),
        env=environment(),
        stdout=writer,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")
    assert site.written == ALL_WRITTEN
    assert site.holder == ""


def test_the_run_goes_on_when_the_disk_is_full(site: Site) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command_line(*site.arguments()),
            env=environment(),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "error: cannot write: No space left on device\n"
    assert site.written == ALL_WRITTEN


def stopped_at(
    site: Site, path: str, number: signal.Signals, *options: str
) -> tuple[int, str, str]:
    """An apply that gets a signal while it waits for the answer to a write of this path."""
    process = subprocess.Popen(
        command_line(*site.arguments(*options)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell ignores SIGINT for what it puts into the background, the tests for example.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )

    def refuses(request: Request) -> Answer | None:
        if request.path.endswith(path) and "dryRun" not in request.query:
            process.send_signal(number)
        return None

    site.namespace.refuses = refuses
    stdout, stderr = process.communicate(timeout=60)
    return process.returncode, stdout, stderr


SIGNALS = [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")]


@pytest.mark.parametrize(("number", "code", "said"), SIGNALS)
def test_a_run_that_is_stopped_gives_the_lease_up(
    site: Site, number: signal.Signals, code: int, said: str
) -> None:
    returned, _, stderr = stopped_at(site, "/configmaps/pipeline-ocr", number)
    assert returned == code
    assert stderr.strip() == said
    assert site.holder == ""
    assert "jobs/letters" not in site.written


@pytest.mark.parametrize(("number", "code", "said"), SIGNALS)
def test_a_run_that_is_stopped_part_way_says_what_it_did(
    site: Site, number: signal.Signals, code: int, said: str
) -> None:
    returned, stdout, stderr = stopped_at(site, "/jobs/letters", number, "--format", "json")
    assert returned == code
    stopped, *_, last = stderr.splitlines()
    assert stopped.startswith("stopped part-way: ")
    assert last == said
    found = json.loads(stdout)
    assert (found["exitCode"], found["error"]) == (code, said)
    assert [event["target"] for event in found["events"]] == ["ConfigMap/pipeline-ocr"]
    assert site.holder == ""
