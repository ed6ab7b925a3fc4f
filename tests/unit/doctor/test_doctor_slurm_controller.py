"""What is said of the controller, its limits, its nodes, and of what applies have left."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from unit.doctor.findings import holds
from unit.doctor.slurm_site import (
    CONFIG,
    FILES,
    MAIN,
    NOW,
    ask,
    ended,
    node,
    slurm,
    state,
    survey,
    task,
)

from converter.doctor.repository import Clone
from converter.doctor.slurm.admission import submission_finding, submission_findings
from converter.doctor.slurm.applied import (
    applied_findings,
    lock_finding,
    state_finding,
    submissions_finding,
)
from converter.doctor.slurm.controller import (
    clock_finding,
    controller_finding,
    controller_findings,
    json_finding,
    scheduler_finding,
    version_finding,
)
from converter.doctor.slurm.facts import Ended, FileFacts, SlurmFacts
from converter.doctor.slurm.limits import (
    age_finding,
    array_finding,
    count_finding,
    on_nodes_finding,
    requeue_finding,
)
from converter.doctor.slurm.nodes import (
    node_findings,
    partition_finding,
    priority_findings,
    satisfies,
    size_finding,
    time_finding,
)
from converter.git import Order
from converter.model import SlurmPriority, SlurmSettings
from converter.reconcile.queue_chain import Unknown
from converter.slurm.host import LOCKED
from converter.slurm.state import Step
from converter.slurm.survey import Result, Survey

UNREAD = Unknown("no answer")


def test_a_fit_controller() -> None:
    found = {each.check: str(each.status) for each in controller_findings(slurm(), survey())}
    names = ("controller", "slurm-version", "controller-clock", "json", "scheduler")
    assert found == dict.fromkeys(names, "ok")


@pytest.mark.parametrize(
    ("site", "status", "words"),
    [
        (slurm(), "ok", "for cluster local"),
        (UNREAD, "unknown", "no answer"),
        (slurm(ping="x is DOWN", config=UNREAD), "fault", "does not answer: x is DOWN"),
        (slurm(ping="a is DOWN b is UP"), "warning", "a controller of cluster local is down"),
    ],
)
def test_whether_it_answers(site: SlurmFacts | Unknown, status: str, words: str) -> None:
    holds(controller_finding(site), status, words)
    assert len(list(controller_findings(site, survey()))) == (5 if status[0] in "ow" else 1)


@pytest.mark.parametrize(
    ("version", "status", "words"),
    [
        ("22.05.8", "ok", "Slurm 22.05.8"),
        ("25.11.0", "ok", "newer than 22.05, which was tried"),
        ("21.08.8-2", "warning", "older than 22.05"),
        ("20.11.9", "fault", "no squeue --json"),
        ("", "unknown", "''"),
    ],
)
def test_versions(version: str, status: str, words: str) -> None:
    holds(version_finding({"SLURM_VERSION": version}), status, words)


@pytest.mark.parametrize(
    ("host", "status", "words"),
    [
        (NOW + 30, "ok", "agree to 30 s"),
        (NOW - 31, "warning", "31 s behind that of the controller"),
        (NOW + 31, "warning", "starts that much later"),
        (None, "unknown", "could not be read"),
    ],
)
def test_the_clock_of_the_controller(host: int | None, status: str, words: str) -> None:
    holds(clock_finding(slurm(host_epoch=host)), status, words)


def test_json() -> None:
    holds(json_finding(survey(task(0), task(1))), "ok", "2 records")
    holds(json_finding(UNREAD), "fault", "no answer", "squeue --json")


@pytest.mark.parametrize(
    ("parameters", "status", "words"),
    [
        ("(null)", "ok", "looks every 60 s"),
        ("defer,sched_interval=10,bf_interval=5", "ok", "looks every 10 s"),
        ("sched_interval=-1", "warning", "switched off"),
    ],
)
def test_the_scheduler(parameters: str, status: str, words: str) -> None:
    holds(scheduler_finding({**CONFIG, "SchedulerParameters": parameters}), status, words)


@pytest.mark.parametrize(
    ("config", "arrays", "most", "status", "words"),
    [
        ({}, {"letters": 1001}, 1001, "ok", "may have 1001 volumes (MaxArraySize)"),
        ({}, {"letters": 10}, 500, "ok", "campaigns are split at 500"),
        ({}, {"letters": 10}, 1002, "warning", "a campaign with more volumes would be refused"),
        (
            {},
            {"letters": 1002, "maps": 1001},
            2000,
            "fault",
            "letters would be refused: an array has 1002 volumes",
        ),
        (
            {"SchedulerParameters": "defer,max_array_tasks=100"},
            {"letters": 101},
            1001,
            "fault",
            "slurm.max_array_size: 100",
        ),
        ({"SchedulerParameters": "max_array_tasks=2000"}, {}, 1001, "ok", "(MaxArraySize)"),
        ({"MaxArraySize": "0"}, {}, 1001, "fault", "switched off"),
        ({"MaxArraySize": ""}, {}, 1001, "unknown", "not known"),
    ],
)
def test_the_size_of_arrays(
    config: dict[str, str], arrays: dict[str, int], most: int, status: str, words: str
) -> None:
    holds(array_finding({**CONFIG, **config}, arrays, most), status, words)


FEW = {**CONFIG, "MaxJobCount": "100"}


@pytest.mark.parametrize(
    ("tasks", "config", "found", "arrays", "status", "words"),
    [
        (90, FEW, survey(), {"letters": 10}, "ok", "keeps 100 jobs (MaxJobCount)"),
        (91, FEW, survey(), {"letters": 10}, "warning", "has 91; 10 are to be submitted"),
        (91, FEW, survey(states=(state(),)), {"letters": 10}, "ok", "0 are to be submitted"),
        (91, FEW, survey(task(0)), {"letters": 10}, "ok", "0 are to be submitted"),
        (0, FEW, survey(), {"letters": 101}, "fault", "an array has 101"),
        (0, {**FEW, "PrivateData": "jobs"}, survey(), {}, "ok", "some of the jobs"),
        (UNREAD, FEW, survey(), {}, "unknown", "not known"),
        (0, FEW, UNREAD, {}, "unknown", "not known"),
        (0, {}, survey(), {}, "unknown", "not known"),
    ],
)
def test_how_many_jobs(
    tasks: int | Unknown,
    config: dict[str, str],
    found: Survey | Unknown,
    arrays: dict[str, int],
    status: str,
    words: str,
) -> None:
    holds(count_finding(tasks, config, found, arrays), status, words)


def test_what_is_forgotten_is_kept_elsewhere() -> None:
    holds(age_finding(CONFIG), "ok", "forgets a job 300 s after its end")


@pytest.mark.parametrize(
    ("config", "found", "status", "words"),
    [
        ({}, survey(task(0)), "ok", "may be queued again"),
        ({"JobRequeue": "0"}, survey(), "ok", "JobRequeue is 0, which campaigns override"),
        ({"RequeueExit": "13"}, survey(), "fault", "with 13 back to the queue (RequeueExit)"),
        ({"RequeueExitHold": "1-5,99"}, survey(), "fault", "(RequeueExitHold), to a shut gate"),
        ({"RequeueExit": "99"}, survey(), "warning", "never ends"),
        ({"RequeueExit": "odd"}, survey(), "fault", "odd"),
        ({}, survey(task(0, may_requeue=False)), "fault", "Slurm does not queue again: 31_0"),
        ({}, survey(task(0, may_requeue=False, state="COMPLETED")), "ok", "may be queued"),
        ({}, UNREAD, "ok", "may be queued"),
    ],
)
def test_requeueing(
    config: dict[str, str], found: Survey | Unknown, status: str, words: str
) -> None:
    holds(requeue_finding({**CONFIG, **config}, found), status, words)


def failed(*indexes: int, restarts: int) -> Survey:
    """Task 0 waits in the queue, and these have failed once."""
    found = survey(task(0, state="PENDING", restarts=restarts))
    failures = {index: Result(1, 1, "2026-12-01T15:00:00Z") for index in indexes}
    return replace(found, failures={"letters": failures})


def results(*ends: tuple[int, int]) -> Survey:
    at = "2026-12-01T15:00:00Z"
    return survey(results={index: Result(*end, at) for index, end in enumerate(ends)})


@pytest.mark.parametrize(
    ("found", "limit", "status", "words"),
    [
        (UNREAD, 3, "unknown", "none was tried again yet"),
        (results((0, 1), (13, 1)), 3, "unknown", "command -v scontrol"),
        (results((0, 2)), 3, "ok", "some were tried again"),
        (results((1, 4)), 3, "ok", "some were tried again"),
        (results((0, 2), (1, 3)), 3, "fault", "given up with tries left: letters index 1"),
        (results((1, 1)), 0, "unknown", "none was tried again"),
        (failed(0, restarts=1), 3, "ok", "some were tried again"),
        # On the loss of its node, or it has not ended yet.
        (failed(1, restarts=1), 3, "unknown", "none was tried again"),
        (failed(0, restarts=0), 3, "unknown", "none was tried again"),
    ],
)
def test_whether_tasks_find_scontrol(
    found: Survey | Unknown, limit: int, status: str, words: str
) -> None:
    holds(on_nodes_finding(found, {"letters": limit}), status, words)


# Partitions and nodes.

GPU = replace(MAIN, name="gpu", default=False)


@pytest.mark.parametrize(
    ("name", "state", "spared", "status", "words"),
    [
        ("main", "UP", False, "ok", "partition main is up"),
        ("main", "DOWN", False, "fault", "DOWN: it keeps jobs waiting"),
        ("main", "DRAIN", False, "fault", "DRAIN: it takes no jobs"),
        ("main", "INACTIVE", True, "warning", "INACTIVE"),
        ("cpu", "UP", True, "fault", "there is no partition cpu"),
    ],
)
def test_a_partition(name: str, state: str, spared: bool, status: str, words: str) -> None:
    known = {"main": replace(MAIN, state=state)}
    holds(partition_finding(name, known, spared=spared), status, words)


def said(site: SlurmFacts, named: tuple[str, ...], **wish: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    settings = SlurmSettings("/shared", ())
    for each in node_findings(site, CONFIG, [ask(**wish)], named, settings):
        found.setdefault(each.check, []).append(str(each.status))
    return found


def test_partitions_that_are_named() -> None:
    both = slurm(partitions=(replace(MAIN, state="DOWN"), GPU))
    assert said(both, ("gpu,main",), partitions=("gpu", "main"))["partition"] == ["ok", "warning"]
    assert said(both, ("gpu,main", "main"), partitions=("gpu",))["partition"] == ["ok", "fault"]
    # The default one is named by nobody, and used.
    assert said(slurm(), ()) == {"partition": ["ok"], "size": ["ok"], "time-limit": ["ok"]}
    assert said(slurm(partitions=(GPU,)), ()) == {"partition": ["fault"]}
    assert said(slurm(partitions=UNREAD), ()) == {"partition": ["unknown"]}


@pytest.mark.parametrize(
    ("wish", "nodes", "status", "words"),
    [
        ({"cpus": 8, "memory": 64_000, "gpus": 2}, (node(),), "ok", "fits 1 node of partition"),
        ({"cpus": 9}, (node(),), "fault", "the most that one gives is 8 CPUs"),
        ({"memory": 64_001}, (node(),), "fault", "64000 MiB"),
        ({"gpus": 3}, (node(),), "fault", "(1 CPU, 64 MiB, 3 GPUs) fits no node"),
        ({}, (node(), node("n2", up=False)), "ok", "fits 2 nodes of partition main, 1 of them up"),
        ({}, (node(up=False),), "fault", "down or drained: n1"),
        ({}, (node(partitions=frozenset(("gpu",))),), "fault", "partition main has no node"),
        ({"constraint": "h100"}, (node(),), "fault", "has no node with h100"),
        ({"constraint": "a100"}, (node(),), "ok", "with a100"),
        ({}, UNREAD, "unknown", "no answer"),
    ],
)
def test_a_size(wish: dict[str, Any], nodes: Any, status: str, words: str) -> None:
    holds(size_finding(ask(**wish), [MAIN], nodes, CONFIG), status, words)


@pytest.mark.parametrize(
    ("partition", "everywhere", "status"),
    [
        ({}, "UNLIMITED", "ok"),
        ({"max_cpus": 1}, "UNLIMITED", "fault"),
        ({"max_memory": 500}, "UNLIMITED", "fault"),
        ({}, "500", "fault"),
        ({"max_memory": 1000}, "500", "ok"),
    ],
)
def test_limits_of_a_node(partition: dict[str, Any], everywhere: str, status: str) -> None:
    config = {**CONFIG, "MaxMemPerNode": everywhere}
    wish = ask(cpus=2, memory=1000)
    holds(size_finding(wish, [replace(MAIN, **partition)], [node()], config), status)


def test_one_partition_of_several_is_enough() -> None:
    nodes = [node(), node("n2", cpus=64, partitions=frozenset(("gpu",)))]
    wish = ask(cpus=32)
    holds(size_finding(wish, [MAIN, GPU], nodes, CONFIG), "ok", "partition main or gpu")
    holds(size_finding(wish, [MAIN], nodes, CONFIG), "fault")


@pytest.mark.parametrize(
    ("constraint", "is_met"),
    [
        ("", True),
        ("a100", True),
        ("h100", False),
        ("a100&big", True),
        ("a100&h100", False),
        ("h100|big", True),
        ("h100|h200", False),
        # What only Slurm knows how to read is left to it.
        ("h100|a100&big", True),
        ("[h100|h200]", True),
        ("h100*2", True),
        ("h100,big", True),
    ],
)
def test_constraints(constraint: str, is_met: bool) -> None:
    assert satisfies(constraint, frozenset(("a100", "big"))) is is_met


@pytest.mark.parametrize(
    ("limits", "status", "words"),
    [
        ((None,), "ok", "may run 60 minutes in partition main"),
        ((60,), "ok", "60 minutes"),
        ((59,), "fault", "allows 59: it would be refused, or wait for ever"),
        ((10, None), "ok", ""),
        ((10, 59), "fault", "allows 59"),
    ],
)
def test_times(limits: tuple[int | None, ...], status: str, words: str) -> None:
    partitions = [replace(MAIN, max_minutes=each) for each in limits]
    holds(time_finding(ask(), partitions), status, words)


def test_names_that_mean_nothing_without_accounting() -> None:
    ranks = {"urgent": SlurmPriority(qos="high"), "low": SlurmPriority(nice=500)}
    settings = SlurmSettings("/shared", (), account="ocr", priorities=ranks)
    (found,) = priority_findings(CONFIG, settings)
    holds(found, "ok", "priority urgent (QOS high), account ocr")
    for kind in ("accounting_storage/none", "(null)", ""):
        (found,) = priority_findings({**CONFIG, "AccountingStorageType": kind}, settings)
        holds(found, "warning", "takes any name for nothing")
    assert list(priority_findings({}, SlurmSettings("/shared", ()))) == []


@pytest.mark.parametrize(
    ("trial", "status", "words"),
    [
        (Ended(0, "sbatch: Job 1 to start at ..."), "ok", "Slurm would take pipeline work"),
        (
            Ended(1, "allocation failure: Invalid partition name specified"),
            "fault",
            "would refuse pipeline work: Invalid partition name specified -> correct the partition",
        ),
        (
            Ended(1, "sbatch: error: Invalid generic resource (gres) specification"),
            "fault",
            "set gpu: 0",
        ),
        (
            Ended(1, "allocation failure: Invalid account or account/partition combination"),
            "fault",
            "slurm.account",
        ),
        (Ended(1, "allocation failure: Invalid qos specification"), "fault", "slurm.priorities"),
        (
            Ended(1, "allocation failure: Requested time limit is invalid (missing or exceeds)"),
            "fault",
            "max_seconds",
        ),
        (
            Ended(1, "allocation failure: Requested node configuration is not available"),
            "fault",
            "said of its size",
        ),
        (Ended(1, "allocation failure: Resource temporarily unavailable"), "fault", "job-count"),
        (Ended(1, "a plugin says no"), "fault", "a plugin says no -> ask who runs Slurm"),
        (Ended(1), "fault", "exit code 1"),
        (Ended(124), "unknown", "was not tried: exit code 124"),
        (Ended(1, "x: Unable to contact slurm controller (connect failure)"), "unknown", "contact"),
    ],
)
def test_a_submission(trial: Ended, status: str, words: str) -> None:
    holds(submission_finding(ask(), trial), status, words)


def test_what_was_not_tried_is_told() -> None:
    found = list(submission_findings([ask(), ask(whose="size large")], [Ended(0)]))
    holds(found[0], "ok")
    holds(found[1], "unknown", "size large was not tried")


# What applies have left.


@pytest.mark.parametrize(
    ("files", "status", "words"),
    [
        (FILES, "ok", "no apply is running"),
        (replace(FILES, holder="ci, since x"), "ok", "the last one was ci, since x"),
        (
            replace(FILES, holder="ci, since x", applying=Ended(LOCKED)),
            "ok",
            "an apply is running: ci, since x",
        ),
        (replace(FILES, applying=Ended(66, "Permission denied")), "unknown", "Permission denied"),
        (UNREAD, "unknown", "no answer"),
    ],
)
def test_the_lock_of_an_apply(files: FileFacts | Unknown, status: str, words: str) -> None:
    holds(lock_finding(files), status, words)


def test_a_state() -> None:
    holds(state_finding(survey(states=(state(), ended("maps"))), "/d"), "ok", "of 2 arrays")
    holds(state_finding(survey(unreadable=["a.json"]), "/d"), "fault", "a.json in /d cannot be")
    holds(state_finding(UNREAD, "/d"), "unknown", "no answer")


SUBMITTED = state(step=Step.SUBMITTED)


@pytest.mark.parametrize(
    ("found", "applies", "status", "words"),
    [
        (survey(states=(state(),)), False, "ok", "half-way"),
        (survey(states=(SUBMITTED,)), False, "warning", "let these run: letters"),
        (survey(states=(SUBMITTED,)), True, "ok", "half-way"),
        # What is new and paused waits at its gate as it should.
        (survey(states=(replace(SUBMITTED, paused=True),)), False, "ok", "half-way"),
        (survey(states=(state(step=Step.SUBMITTING),)), False, "warning", "letters"),
        (
            survey(task(0), task(1, array_job_id=77)),
            True,
            "fault",
            "more than one array of letters",
        ),
        (survey(task(0), task(1, array_job_id=77, state="CANCELLED")), False, "ok", "half-way"),
        (UNREAD, False, "unknown", "no answer"),
    ],
)
def test_submissions(found: Survey | Unknown, applies: bool, status: str, words: str) -> None:
    holds(submissions_finding(found, applies=applies), status, words)


@pytest.mark.parametrize(
    ("applied", "order", "status", "words"),
    [
        ("", Order.SAME, "ok", "team has not been applied on this Slurm yet"),
        ('{"team": "0a1b"}', Order.SAME, "ok", "is the same as the one here"),
        ('{"team": "0a1b"}', Order.OLDER, "warning", "which is newer than the one here"),
        ("not JSON", Order.SAME, "ok", "has not been applied"),
    ],
)
def test_the_commit(applied: str, order: Order, status: str, words: str) -> None:
    clone = Clone(".", None, name="team", commit="c" * 40)
    files = replace(FILES, applied=applied)
    *_, commit = applied_findings(files, survey(), clone, "/d", lambda other: order)
    holds(commit, status, words)
    *_, unread = applied_findings(UNREAD, survey(), clone, "/d", lambda other: order)
    holds(unread, "unknown")
