"""Which Workloads count as a Job's."""

from typing import Any

import pytest
from unit.cluster.api_server import Answer, Request, serve
from unit.reconcile.live_objects import NAMESPACE, Object, job, running, workload

from converter.model import Backend
from converter.reconcile.units import read_units

RUNS = running(job())


def owned_by(*owners: dict[str, Any]) -> Object:
    made = workload(RUNS)
    made["metadata"]["ownerReferences"] = list(owners)
    return made


def owner(uid: str, **keys: Any) -> dict[str, Any]:
    return {"apiVersion": "batch/v1", "kind": "Job", "name": "scan", "uid": uid, **keys}


@pytest.mark.parametrize(
    ("present", "is_of_the_job"),
    [
        (workload(RUNS), True),
        (owned_by(owner("uid-raycluster"), owner("uid-scan", controller=True)), True),
        (owned_by(), False),
        (owned_by(owner("uid-scan")), False),
        (owned_by(owner("uid-scan", controller=False)), False),
        (owned_by(owner("uid-other", controller=True)), False),
        (owned_by(owner("uid-other", controller=True), owner("uid-scan")), False),
    ],
    ids=[
        "Kueue's own",
        "controlled by the Job, owned by another too",
        "owned by nobody",
        "owned, not controlled",
        "expressly not controlled",
        "controlled by another Job of the same name",
        "controlled by another, owned by the Job",
    ],
)
def test_a_workload_is_of_the_job_that_controls_it(present: Object, is_of_the_job: bool) -> None:
    def answer(request: Request) -> Answer:
        return Answer(200, {"metadata": {}, "items": [present]})

    with serve(answer) as api:
        found = read_units(api.client(), NAMESPACE, Backend.KUEUE)
    assert found == ({"uid-scan": (present,)} if is_of_the_job else {})


def test_all_workloads_of_a_job_are_found() -> None:
    several = [workload(RUNS, name=each) for each in ("a", "b")]

    def answer(request: Request) -> Answer:
        return Answer(200, {"metadata": {}, "items": several})

    with serve(answer) as api:
        found = read_units(api.client(), NAMESPACE, Backend.KUEUE)
    assert found == {"uid-scan": tuple(several)}
