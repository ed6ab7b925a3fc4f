"""`campaigns diff` on a real cluster: empty after an apply, and after an edit just that edit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

from cluster.team import SLOW, Done, Team, eventually
from conftest import TeamFactory
from localcluster import AuditEvent

SAMPLES: Final = Path(__file__).parents[2] / "campaigns"
LISTS: Final = [("list", "configmaps"), ("list", "jobs"), ("list", "workloads")]
# What a team's own names stand for in the samples.
QUEUE_OF: Final = {"demo": "campaigns-demo", "htr": "htr-batch"}
GPU: Final = {"cpu": 160, "memory": "640Gi", "nvidia.com/gpu": 20}

Changes = set[tuple[str, str]]


def shown(team: Team, *options: str) -> tuple[Changes, list[str], Done]:
    """What differs, the lines that were taken away or added, and the command itself."""
    done = team.run("diff", ".", "--format=json", *options)
    found = json.loads(done.stdout)
    assert found["error"] is None, done.text
    assert done.code == found["exitCode"]
    changes = {(each["action"], each["target"]) for each in found["changes"]}
    diffs = "".join(each["diff"] for each in found["changes"] if each["action"] == "change")
    return changes, [line for line in diffs.splitlines() if is_changed(line)], done


def is_changed(line: str) -> bool:
    return line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- "))


def writes(team: Team, mark: int) -> list[AuditEvent]:
    """Every request after the mark that changes something, or would without dryRun."""
    team.cluster.audit_mark()
    return [each for each in team.requests(mark) if each.is_write]


def copy_sample(team: Team, sample: str, names: dict[str, str]) -> Team:
    """The team with a sample for its repository, whose names are the team's own."""
    repo = team.repo.parent / sample
    shutil.copytree(SAMPLES / sample, repo)
    for file in repo.rglob("*.yaml"):
        text = file.read_text()
        for theirs, ours in names.items():
            text = text.replace(theirs, ours)
        file.write_text(text)
    return replace(team, repo=repo)


def test_there_is_no_difference_after_an_apply_of_the_samples(new_team: TeamFactory) -> None:
    flavor = {"name": "", "nodeLabels": {"example.org/gpu": "h100"}, "quota": GPU}
    team = new_team()
    own = team.namespace
    classes = ("demo-urgent", "demo-bulk", "htr-interactive", "htr-bulk", "htr-idle")
    team.tenant.install(
        {
            "queue": {
                "flavors": [{**flavor, "name": f"{own}-h100"}],
                "priorityClasses": [
                    {"name": f"{own}-{name}", "value": value} for value, name in enumerate(classes)
                ],
            }
        }
    )
    for sample in ("demo", "htr"):
        queue = QUEUE_OF[sample]
        names = {queue: own, "h100": f"{own}-h100", "gpu: " + f"{own}-h100": "gpu: h100"}
        names |= {name: f"{own}-{name}" for name in classes}
        played = copy_sample(team, sample, names)
        done = played.apply()
        assert "0 held back, 0 refused" in done.stdout
        mark = team.cluster.audit_mark()
        done = played.run("diff", ".")
        assert (done.code, done.stdout) == (0, ""), done.text
        assert done.stderr.splitlines()[-1].startswith("no differences")
        assert writes(team, mark) == []


@dataclass(frozen=True)
class Edit:
    """One edit, and what diff has to show after it: no more and no less.

    `lines` are those of the objects that change, in any order. `live` is an edit on the cluster
    instead of in git.
    """

    name: str
    make: Callable[[Team], object]
    changes: Changes
    lines: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    live: bool = False


def settings(team: Team, **changes: Any) -> None:
    """converter.yaml as in `play`, but for these."""
    size = {"cpu": "100m", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}
    sizes = {"s": size, "l": {**size, "cpu": 3}, "xl": {**size, "cpu": 99}}
    classes = [f"{team.namespace}-urgent"]
    team.write_settings(**{"sizes": sizes, "priority_classes": classes, **changes})


def play(team: Team) -> None:
    """A campaign that runs, one that waits, one paused before it was queued, and one since."""
    classes = [{"name": f"{team.namespace}-urgent", "value": 1}]
    team.tenant.install(
        {
            "queue": {"priorityClasses": classes},
            "viewer": {"enabled": True},
            "security": {"policies": {"queues": ["other"]}},
        }
    )
    settings(team)
    team.write_pipeline(script=SLOW)
    team.write_pipeline("wide", size="l")
    for name in ("runs", "stopped"):
        team.write_campaign(name, 2)
    team.write_campaign("first", pipeline="wide")
    team.write_campaign("paused", 2, suspend=True)
    team.apply()
    eventually(partial(team.admitted, "first"), "the admission of the first one")
    eventually(partial(team.admitted, "runs"), "the admission of the one that runs")
    team.write_campaign("waits", pipeline="wide")
    team.write_campaign("stopped", 2, suspend=True)
    team.apply()
    eventually(lambda: team.workload("waits"), "the Workload of the one that waits")


def priority(team: Team) -> None:
    team.write_campaign("waits", pipeline="wide", priority=f"{team.namespace}-urgent")


def another_queue(team: Team) -> None:
    settings(team, queue="other")


def too_large(team: Team) -> None:
    team.write_pipeline("huge", size="xl")
    team.write_campaign("huge", pipeline="huge")


def foreign(team: Team) -> None:
    team.kubectl("create", "job", "theirs", "--image=somebody")
    team.write_campaign("theirs")


def comment(team: Team) -> None:
    team.write(
        "campaigns/runs.yaml", f"# {team.namespace}\nvolumes: [runs-0, runs-1]\npipeline: work\n"
    )


def campaign(name: str, *arguments: Any, **keys: Any) -> Callable[[Team], object]:
    return lambda team: team.write_campaign(name, *arguments, **keys)


def kubectl(*arguments: str) -> Callable[[Team], object]:
    return lambda team: team.kubectl(*arguments)


def everything(action: str, *names: str) -> Changes:
    return {(action, f"campaign {name}") for name in names}


SUSPENDED: Final = '    gitops-campaigns.io/suspend: "true"'
EDITS: Final = (
    Edit("nothing but how it is written", comment, set()),
    Edit(
        "a new campaign",
        campaign("new"),
        {("create", "Job/new"), ("create", "ConfigMap/campaign-new")},
    ),
    Edit(
        "a new one that is paused",
        campaign("new", suspend=True),
        {("create", "Job/new"), ("create", "ConfigMap/campaign-new"), ("pause", "new")},
    ),
    Edit(
        "a campaign is deleted",
        lambda team: team.delete_campaign("runs"),
        everything("stays", "runs"),
    ),
    Edit(
        "a campaign is deleted, with --prune",
        lambda team: team.delete_campaign("runs"),
        {("prune", "Job/runs"), ("prune", "ConfigMap/campaign-runs")},
        options=("--prune",),
    ),
    Edit(
        "one that runs is paused",
        campaign("runs", 2, suspend=True),
        {("change", "Job/runs"), ("pause", "runs")},
        (f"+{SUSPENDED}",),
    ),
    Edit(
        "one that was stopped is resumed",
        campaign("stopped", 2),
        {("change", "Job/stopped"), ("resume", "stopped")},
        (f"-{SUSPENDED}",),
    ),
    Edit(
        "one that was never queued is resumed",
        campaign("paused", 2),
        {("change", "Job/paused"), ("resume", "paused")},
        (f"-{SUSPENDED}", "+    kueue.x-k8s.io/queue-name: {queue}"),
    ),
    Edit(
        "the priority of one that waits",
        priority,
        {("change", "Job/waits")},
        ("+    kueue.x-k8s.io/priority-class: {queue}-urgent",),
    ),
    Edit(
        "the window of one that is paused",
        campaign("paused", 2, window=1, suspend=True),
        {("change", "Job/paused")},
        (
            '-    gitops-campaigns.io/window: "20"',
            '+    gitops-campaigns.io/window: "1"',
            "-  parallelism: 20",
            "+  parallelism: 1",
        ),
    ),
    Edit(
        "the window of one that runs",
        campaign("runs", 2, window=1),
        everything("held back", "runs"),
    ),
    Edit("the volumes of one that runs", campaign("runs", 3), everything("held back", "runs")),
    Edit(
        "the recipe of campaigns that have not ended",
        lambda team: team.write_pipeline(script="true"),
        {("held back", "pipeline work"), *everything("held back", "runs", "paused", "stopped")},
    ),
    Edit(
        "a new pipeline",
        lambda team: team.write_pipeline("new"),
        {("create", "ConfigMap/pipeline-new")},
    ),
    Edit(
        "how long a pipeline's Jobs are kept",
        lambda team: team.write_pipeline("wide", size="l", ttl_seconds_after_finished=60),
        {("change", "Job/first"), ("change", "Job/waits")},
        ("-  ttlSecondsAfterFinished: 604800", "+  ttlSecondsAfterFinished: 60") * 2,
    ),
    Edit(
        "the environment of every pod",
        lambda team: settings(team, env={"LEVEL": "debug"}),
        everything("held back", "first", "paused", "runs", "stopped", "waits"),
    ),
    Edit(
        "the queue",
        another_queue,
        {
            *everything("held back", "first", "runs"),
            ("change", "Job/stopped"),
            ("change", "Job/waits"),
            ("note", "LocalQueue other"),
        },
        ("-    kueue.x-k8s.io/queue-name: {queue}", "+    kueue.x-k8s.io/queue-name: other") * 2,
    ),
    Edit(
        "a campaign that can never fit",
        too_large,
        {("create", "ConfigMap/pipeline-huge"), *everything("held back", "huge")},
    ),
    Edit(
        "an annotation, by hand",
        kubectl("annotate", "job", "runs", "argocd.argoproj.io/hook=PreSync", "--overwrite"),
        {("change", "Job/runs")},
        ("-    argocd.argoproj.io/hook: PreSync", "+    argocd.argoproj.io/hook: Skip"),
        live=True,
    ),
    Edit(
        "a list of volumes, by hand",
        kubectl(
            "patch",
            "configmap",
            "campaign-runs",
            "--type=merge",
            "--patch",
            json.dumps({"data": {"volumes.txt": "runs-0\truns-0\nruns-9\truns-9\n"}}),
        ),
        {("change", "ConfigMap/campaign-runs")},
        ("-    runs-9\truns-9", "+    runs-1\truns-1"),
        live=True,
    ),
    Edit(
        "a Job of somebody else under a new campaign's name",
        foreign,
        everything("held back", "theirs"),
        live=True,
    ),
)


@contextmanager
def undone(team: Team, edit: Edit) -> Iterator[None]:
    """The edit, for as long as the block runs."""
    before = {file: file.read_bytes() for file in team.repo.rglob("*.yaml")}
    edit.make(team)
    yield
    for file in team.repo.rglob("*.yaml"):
        if file not in before:
            file.unlink()
    for file, content in before.items():
        file.write_bytes(content)
    if edit.live:
        team.apply()


def test_after_an_edit_that_edit_is_shown_and_nothing_else(team: Team) -> None:
    play(team)
    assert shown(team)[0] == set()
    wrong = []
    for edit in EDITS:
        with undone(team, edit):
            mark = team.cluster.audit_mark()
            changes, lines, done = shown(team, *edit.options)
            expected = sorted(line.format(queue=team.tenant.queue) for line in edit.lines)
            if changes != edit.changes or sorted(lines) != expected:
                wrong.append((edit.name, changes ^ edit.changes, lines, done.stderr))
            differs = {action for action, _ in edit.changes} - {"stays", "note"}
            assert done.code == (2 if differs else 0), edit.name
            sent = writes(team, mark)
            assert all(each.dry_run and each.verb == "patch" for each in sent), edit.name
    assert wrong == []
    mark = team.cluster.audit_mark()
    done = team.run("diff", ".")
    assert (done.code, done.stdout, done.stderr) == (0, "", "no differences\n")
    team.cluster.audit_mark()
    asked = sorted((each.verb, each.resource) for each in team.requests(mark))
    assert [each for each in asked if each[0] != "get"] == LISTS
    assert_that_a_viewer_is_told_what_is_missing(team)


def assert_that_a_viewer_is_told_what_is_missing(team: Team) -> None:
    kubeconfig = team.repo.parent / "viewer"
    team.tenant.write_kubeconfig(kubeconfig, account=f"{team.tenant.queue}-viewer")
    viewing = replace(team, kubeconfig=kubeconfig)
    assert viewing.run("diff", ".").code == 0
    team.write_campaign("new")
    done = viewing.run("diff", ".")
    assert (done.code, done.stdout) == (1, "")
    assert 'cannot patch resource "jobs"' in done.stderr
    assert "needs the verbs create and patch of jobs and configmaps" in done.stderr
