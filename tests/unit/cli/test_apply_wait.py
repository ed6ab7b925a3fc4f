"""`campaigns apply --wait`, run as a command against an API server on the loopback."""

import json
import os
import pty
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from unit.cli.apply_site import Site, made
from unit.cli.commands import CAMPAIGN, command_line, environment
from unit.cluster.api_server import Answer, Object, Request

Moment = Callable[[], object]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with made(tmp_path) as site:
        yield site


def status_of(done: str, failed: str = "", end: str = "") -> Object:
    conditions = [{"type": end, "status": "True"}] if end else []
    return {"completedIndexes": done, "failedIndexes": failed, "conditions": conditions}


FINISHED = status_of("0-1", end="Complete")
PARTLY_FAILED = status_of("0", "1", end="Failed")


def during_the_wait(site: Site, *moments: Moment) -> None:
    """Do something at each look at the campaigns' Jobs, which only a wait asks for by label.

    At the first look the wait learns that it may not watch.
    """
    left: list[Moment] = [lambda: None, *moments]

    def on_request(request: Request) -> Answer | None:
        if request.path.endswith("/jobs") and "labelSelector" in request.query and left:
            left.pop(0)()
        return None

    site.namespace.refuses = on_request


def becomes(site: Site, status: Object) -> Moment:
    """The campaign's Job has been admitted and gets this status."""

    def change() -> None:
        job = site.namespace.job("letters")
        job["spec"]["suspend"] = False
        job["status"] = status

    return change


def gone(site: Site) -> Moment:
    return lambda: site.namespace.objects["jobs"].pop("letters")


def test_it_waits_for_the_end_and_says_what_changes(site: Site) -> None:
    during_the_wait(
        site, becomes(site, status_of("")), becomes(site, status_of("0")), becomes(site, FINISHED)
    )
    done = site.apply("--wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-5:] == [
        "1 applied, 0 unchanged, 0 held back, 0 refused, 0 paused, 0 resumed, 0 pruned, 0 finished",
        "letters: Running, 0/2 done, 0 failed",
        "letters: Running, 1/2 done, 0 failed",
        "letters: Finished, 2/2 done, 0 failed",
        "waited: 1 finished",
    ]


def test_the_lease_is_free_during_the_wait(site: Site) -> None:
    holders: list[str] = []
    during_the_wait(site, lambda: holders.append(site.holder), becomes(site, FINISHED))
    assert site.apply("--wait").returncode == 0
    assert holders == [""]


def test_failed_volumes_are_exit_code_1(site: Site) -> None:
    during_the_wait(site, becomes(site, PARTLY_FAILED))
    done = site.apply("--wait")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == "waited: 1 failed"
    file = site.repo / "campaigns/letters.yaml"
    assert done.stderr == (
        f"failed: campaign letters ({file}): PartlyFailed, 1/2 done, 1 failed: apply again to "
        "record it, then see `campaigns retry letters`\n"
    )


def test_what_had_ended_before_is_no_failure_of_this_apply(site: Site) -> None:
    site.apply()
    becomes(site, PARTLY_FAILED)()
    done = site.apply("--wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "there is nothing to wait for"


def test_the_time_is_over(site: Site) -> None:
    done = site.apply("--wait", "--timeout", "1s")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1] == (
        "timed out after 1s: 1 not ended; what has not ended goes on in the cluster"
    )
    [line] = done.stderr.splitlines()
    assert line.startswith("not ended: campaign letters (")
    assert "): Waiting, 0/2 done, 0 failed (Kueue has made no Workload for it)" in line


def test_what_was_held_back_is_not_waited_for(site: Site) -> None:
    site.namespace.add({"metadata": {"name": "letters", "uid": "1"}, "kind": "Job", "spec": {}})
    done = site.apply("--wait")
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1] == "there is nothing to wait for"
    site.write("campaigns/maps.yaml", CAMPAIGN.replace("A", "M"))
    done = site.apply("--wait", "--timeout", "1s")
    assert done.returncode == 1
    assert "maps: Waiting, 0/2 done" in done.stdout
    assert "letters: " not in done.stdout


def test_a_campaign_that_git_pauses_rests(site: Site) -> None:
    site.write("campaigns/letters.yaml", CAMPAIGN + "suspend: true\n")
    done = site.apply("--wait")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "waited: 1 paused"


def test_a_job_that_goes_away_ends_the_wait(site: Site) -> None:
    during_the_wait(site, becomes(site, status_of("0")), gone(site))
    done = site.apply("--wait")
    assert done.returncode == 1
    assert done.stderr.startswith("gone: campaign letters (")


def test_an_apply_that_failed_is_not_waited_for(site: Site) -> None:
    def refuse(request: Request) -> Answer | None:
        refused = request.path.endswith("/jobs/letters") and request.method == "PATCH"
        body = {"kind": "Status", "reason": "Invalid", "message": "no", "code": 422}
        return Answer(422, body) if refused else None

    site.namespace.refuses = refuse
    done = site.apply("--wait")
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("0 applied, ")


def test_json_is_one_document_at_the_end(site: Site) -> None:
    during_the_wait(site, becomes(site, status_of("0")), becomes(site, PARTLY_FAILED))
    done = site.apply("--wait", "--format", "json")
    found: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode, found["exitCode"], found["error"]) == (1, 1, None)
    assert found["wait"]["timedOut"] is False
    [campaign] = found["wait"]["campaigns"]
    shown = {key: campaign[key] for key in ("name", "phase", "done", "failed", "total", "result")}
    assert shown == {
        "name": "letters",
        "phase": "PartlyFailed",
        "done": 1,
        "failed": 1,
        "total": 2,
        "result": "failed",
    }
    assert done.stderr.splitlines()[0] == "letters: Running, 1/2 done, 0 failed"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--timeout", "10m"), "--timeout is how long --wait waits"),
        (("--wait", "--timeout", "10"), "write for example 30s, 10m, 2h or 1h30m"),
        (("--wait", "--timeout", "0s"), "write 1s or more"),
        (("--wait", "--dry-run"), "--dry-run starts nothing that --wait could wait for"),
    ],
)
def test_wrong_usage(site: Site, options: tuple[str, ...], said: str) -> None:
    done = site.apply(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in " ".join(done.stderr.split())
    assert site.api.requests == []


@pytest.mark.parametrize("options", [(), ("--format", "json")], ids=["text", "json"])
@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")],
)
def test_a_wait_that_is_stopped_says_that_the_campaigns_go_on(
    site: Site, number: signal.Signals, code: int, word: str, options: tuple[str, ...]
) -> None:
    process = subprocess.Popen(
        command_line(*site.arguments("--wait", *options)),
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    during_the_wait(site, lambda: process.send_signal(number))
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == code
    assert stderr.splitlines()[-1] == f"{word}: the campaigns go on in the cluster"
    if options:
        found = json.loads(stdout)
        assert (found["exitCode"], found["error"], found["wait"]) == (code, word, None)
    else:
        assert stderr.count("\n") == 1


def on_a_terminal(command: list[str]) -> str:
    """What a terminal shows of standard output and error."""
    reader, writer = pty.openpty()
    with subprocess.Popen(command, env=environment(TERM="xterm"), stdout=writer, stderr=writer):
        os.close(writer)
        shown = b""
        # Linux says EIO where the other end of a terminal is closed.
        with suppress(OSError):
            while chunk := os.read(reader, 4096):
                shown += chunk
    os.close(reader)
    return shown.decode()


def test_a_terminal_shows_how_much_has_been_sent_and_a_table(site: Site) -> None:
    during_the_wait(site, becomes(site, status_of("0")), becomes(site, FINISHED))
    shown = on_a_terminal(command_line(*site.arguments("--wait")))
    assert "\r\x1b[Kcomparing with the cluster\r\x1b[K" in shown
    assert "\r\x1b[Ksent 1/3 objects\r\x1b[Kcreated: " in shown
    assert "letters: Running" not in shown
    assert "CAMPAIGN" in shown
    assert "Finished" in shown
    assert shown.rstrip().endswith("waited: 1 finished")


def test_no_terminal_no_meter(site: Site) -> None:
    done = site.apply()
    assert "\r" not in done.stdout
    assert done.stderr == ""
