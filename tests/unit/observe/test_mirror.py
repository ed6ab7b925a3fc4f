"""Statuses that are kept up to date by changes are those that would be read anew."""

import random
from typing import Any

from unit.reconcile.live_objects import (
    REPOSITORY,
    Object,
    applied,
    ended,
    evicted,
    held,
    job,
    queued,
    running,
    state,
    workload,
)

from converter.cluster.resources import CONFIGMAPS, JOBS, WORKLOADS, Resource
from converter.observe.mirror import Mirror
from converter.observe.places import Place
from converter.observe.status import statuses
from converter.observe.wanted import Wanted, WantedPart
from converter.reconcile.record import records_to_write

NAMES = ("scan", "maps", "scan-part1", "scan-part2")
STATES = (queued, running, evicted, ended)


def wanted(*names: str) -> dict[str, Wanted]:
    parts = {"parts": {"x": WantedPart(3, "inputs-1", 2)}, "pipeline": "ocr", "size": "s"}
    made: Any = {**parts, "queue": "gpu", "priority": "", "suspended": False}
    return {name: Wanted(**made) for name in names}


def change(
    chance: random.Random, there: dict[str, dict[str, Object]]
) -> tuple[Resource, Object, bool]:
    """One object of the namespace changes, comes or goes."""
    name = chance.choice(NAMES)
    made = job(name, campaign=name.partition("-")[0])
    live = chance.choice(STATES)(made)
    what = chance.choice(("jobs", "workloads", "configmaps"))
    found = {
        "jobs": live,
        "workloads": chance.choice((workload, held))(live),
        "configmaps": applied(records_to_write(state(ended(made)), REPOSITORY)[0]),
    }[what]
    gone = chance.random() < 0.3 and found["metadata"]["name"] in there[what]
    if gone:
        del there[what][found["metadata"]["name"]]
    else:
        there[what][found["metadata"]["name"]] = found
    resource = {"jobs": JOBS, "workloads": WORKLOADS, "configmaps": CONFIGMAPS}[what]
    return resource, found, gone


def test_after_any_changes_the_statuses_are_those_of_a_fresh_look() -> None:
    chance = random.Random(11)  # noqa: S311
    git = wanted("scan", "letters")
    there: dict[str, dict[str, Object]] = {"jobs": {}, "workloads": {}, "configmaps": {}}
    mirror = Mirror(git, REPOSITORY)
    for _ in range(600):
        resource, found, gone = change(chance, there)
        mirror.changed(resource, found, gone=gone)
        live = state(
            *there["jobs"].values(),
            *there["configmaps"].values(),
            workloads=tuple(there["workloads"].values()),
        )
        assert mirror.statuses() == statuses(git, live, REPOSITORY)


def test_a_list_replaces_all_of_its_kind() -> None:
    mirror = Mirror({}, REPOSITORY)
    mirror.listed(JOBS, [running(job()), running(job("maps"))])
    assert [status.name for status in mirror.statuses()] == ["maps", "scan"]
    mirror.listed(JOBS, [running(job("maps"))])
    assert [status.name for status in mirror.statuses()] == ["maps"]


def test_new_places_are_seen_at_once() -> None:
    waits = queued(job())
    mirror = Mirror({}, REPOSITORY)
    mirror.listed(JOBS, [waits])
    mirror.listed(WORKLOADS, [workload(waits)])
    assert mirror.statuses()[0].place is None
    mirror.place({"job-scan": Place(1, 1, 0)})
    assert mirror.statuses()[0].place == Place(1, 1, 0)
