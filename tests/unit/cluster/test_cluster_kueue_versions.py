"""The client before a server that does not have v1beta2 of Kueue's API."""

from collections.abc import Collection

import pytest
from unit.cluster.api_server import Answer, Handle, Object, Request, failure, serve

from converter.cluster.client import Client
from converter.cluster.kueue_versions import as_wanted
from converter.cluster.resources import (
    CLUSTER_QUEUES,
    JOBS,
    LOCAL_QUEUES_VISIBLE,
    PRIORITY_CLASSES,
    WORKLOADS,
)
from converter.errors import NotFound
from converter.holds.deadline import Deadline, deadline_in

GROUP = "/apis/kueue.x-k8s.io"
VISIBILITY = "/apis/visibility.kueue.x-k8s.io"
# What an API server says of a path that it does not know.
NO_PATH = Answer(404, b"404 page not found\n", {"Content-Type": "text/plain"})
LISTS = (f"{GROUP}/v1beta1", f"{VISIBILITY}/v1beta1")
WORKLOAD = f"{GROUP}/{{}}/namespaces/n/workloads/w"


def queue(version: str, **spec: str) -> Object:
    api = f"kueue.x-k8s.io/{version}"
    return {"apiVersion": api, "kind": "ClusterQueue", "metadata": {"name": "q"}, "spec": spec}


def kueue(served: Collection[str], answer: Answer) -> Handle:
    """A server with these versions, that gives the same answer to all that it has."""

    resources = [{"name": name} for name in ("workloads", "clusterqueues", "localqueues")]

    def handle(request: Request) -> Answer:
        *_, version = request.path.split("/")[:4]
        if version not in served:
            return NO_PATH
        return Answer(200, {"resources": resources}) if request.path in LISTS else answer

    return handle


def asked(served: Collection[str], answer: Answer, times: int = 2) -> list[str]:
    """The paths that a client asks for when it reads a Workload; it fails as the server does."""
    with serve(kueue(served, answer)) as api:
        client = api.client()
        for _ in range(times):
            try:
                client.get(WORKLOADS, "n", "w")
            except NotFound:
                continue
    return [path for _, path in api.asked()]


@pytest.mark.parametrize(
    ("served", "answer", "paths"),
    [
        (("v1beta2", "v1beta1"), Answer(200), [WORKLOAD.format("v1beta2")] * 2),
        (("v1beta2",), failure(404, "NotFound"), [WORKLOAD.format("v1beta2")] * 2),
        (
            ("v1beta1",),
            Answer(200),
            [WORKLOAD.format("v1beta2"), LISTS[0], *[WORKLOAD.format("v1beta1")] * 2],
        ),
        ((), Answer(200), [WORKLOAD.format("v1beta2"), LISTS[0], WORKLOAD.format("v1beta2")]),
    ],
    ids=["both", "no such object", "the earlier only", "neither"],
)
def test_the_server_is_asked_for_its_versions_once_and_only_if_a_path_is_not_there(
    served: Collection[str], answer: Answer, paths: list[str]
) -> None:
    assert asked(served, answer) == paths


def test_a_kind_that_neither_version_has_is_not_asked_for_otherwise() -> None:
    with serve(kueue(("v1beta1",), Answer(200))) as api:
        client = api.client()
        with pytest.raises(NotFound):
            client.get(PRIORITY_CLASSES, "", "p")
        client.get(WORKLOADS, "n", "w")
    assert [path for _, path in api.asked()].count(LISTS[0]) == 1


def test_a_server_that_does_not_tell_its_versions_is_not_asked_otherwise() -> None:
    def handle(request: Request) -> Answer:
        return failure(403, "Forbidden") if request.path in LISTS else NO_PATH

    with serve(handle) as api, pytest.raises(NotFound, match="404 page not found"):
        api.client().get(WORKLOADS, "n", "w")


@pytest.mark.parametrize("write", ["patch", "delete", "watch", "list"])
def test_every_kind_of_request_goes_to_the_version_that_is_there(write: str) -> None:
    answer = Answer(200, {"metadata": {}, "items": []})
    with serve(kueue(("v1beta1",), answer)) as api:
        client = api.client()
        client.list(WORKLOADS, "n")
        del api.requests[:]
        send(client, write)
    assert [request.path.split("/")[3] for request in api.requests] == ["v1beta1"]


def send(client: Client, write: str) -> None:
    if write == "patch":
        client.merge_patch(WORKLOADS, "n", "w", {"spec": {"active": False}}, "m")
    elif write == "delete":
        client.delete(WORKLOADS, "n", "w", uid="u")
    elif write == "watch":
        list(client.watch(WORKLOADS, "n", "1"))
    else:
        client.list(WORKLOADS, "n")


def test_a_guarded_client_knows_what_the_other_has_learnt() -> None:
    with serve(kueue(("v1beta1",), Answer(200))) as api:
        client = api.client()
        client.guarded_by(lambda: None).get(WORKLOADS, "n", "w")
        del api.requests[:]
        client.get(WORKLOADS, "n", "w")
    assert [path for _, path in api.asked()] == [WORKLOAD.format("v1beta1")]


def test_a_call_with_a_deadline_asks_for_versions_within_it_and_uses_what_is_known() -> None:
    late = [False]

    def handle(request: Request) -> Answer:
        late[0] = True
        return NO_PATH

    with serve(handle) as api:
        limit = Deadline(1.0, lambda: 2.0 if late[0] else 0.0)
        with pytest.raises(NotFound):
            api.client().within(limit).get(WORKLOADS, "n", "w")
        assert [path for _, path in api.asked()] == [WORKLOAD.format("v1beta2")]
    with serve(kueue(("v1beta1",), Answer(200))) as api:
        client = api.client()
        client.get(WORKLOADS, "n", "w")
        del api.requests[:]
        client.within(deadline_in(30)).get(WORKLOADS, "n", "w")
    assert [path for _, path in api.asked()] == [WORKLOAD.format("v1beta1")]


def test_a_cohort_has_the_name_that_it_has_in_v1beta2() -> None:
    earlier = queue("v1beta1", cohort="all", stopPolicy="None")
    with serve(kueue(("v1beta1",), Answer(200, earlier))) as api:
        found = api.client().get(CLUSTER_QUEUES, "", "q")
    assert found["spec"] == {"cohortName": "all", "stopPolicy": "None"}


def test_also_in_a_list() -> None:
    items = [queue("v1beta1", cohort="all"), queue("v1beta1")]
    listed = {"apiVersion": "kueue.x-k8s.io/v1beta1", "metadata": {}, "items": items}
    with serve(kueue(("v1beta1",), Answer(200, listed))) as api:
        found = api.client().list(CLUSTER_QUEUES, "")
    assert [each["spec"] for each in found] == [{"cohortName": "all"}, {}]


def workload(version: str, name: str) -> Object:
    api = f"kueue.x-k8s.io/{version}"
    status = {name: 90, "conditions": []}
    return {"apiVersion": api, "kind": "Workload", "metadata": {"name": "w"}, "status": status}


EARLIER = workload("v1beta1", "accumulatedPastExexcutionTimeSeconds")
SAME = {"accumulatedPastExecutionTimeSeconds": 90, "conditions": []}


@pytest.mark.parametrize("how", ["get", "list", "watch"])
def test_the_time_that_a_workload_ran_has_the_name_that_it_has_in_v1beta2(how: str) -> None:
    listed = {"apiVersion": "kueue.x-k8s.io/v1beta1", "metadata": {}, "items": [EARLIER]}
    change = {"type": "MODIFIED", "object": EARLIER}
    answers = {"get": EARLIER, "list": listed, "watch": change}
    with serve(kueue(("v1beta1",), Answer(200, answers[how]))) as api:
        client = api.client()
        # What a watch goes on from is a list.
        client.get(WORKLOADS, "n", "w")
        (found,) = read(client, how)
    assert found["status"] == SAME


def read(client: Client, how: str) -> list[Object]:
    if how == "get":
        return [client.get(WORKLOADS, "n", "w")]
    if how == "list":
        return list(client.list(WORKLOADS, "n"))
    return [change["object"] for change in client.watch(WORKLOADS, "n", "1")]


@pytest.mark.parametrize(
    "other",
    [
        workload("v1beta2", "accumulatedPastExexcutionTimeSeconds"),
        workload("v1beta1", "admission"),
        {**EARLIER, "kind": "Job"},
        {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Workload", "status": None},
    ],
)
def test_what_has_no_other_name_is_left_as_it_is(other: Object) -> None:
    assert as_wanted(other) == other


def test_the_visibility_api_has_versions_of_its_own() -> None:
    with serve(kueue(("v1beta1",), Answer(200))) as api:
        api.client().get(LOCAL_QUEUES_VISIBLE, "n", "q", subresource="pendingworkloads")
    paths = [path for _, path in api.asked()]
    assert paths[1] == LISTS[1]
    assert paths[2].startswith(f"{VISIBILITY}/v1beta1/")


def test_other_apis_are_left_alone() -> None:
    with serve(lambda request: NO_PATH) as api, pytest.raises(NotFound):
        api.client().get(JOBS, "n", "j")
    assert len(api.requests) == 1
