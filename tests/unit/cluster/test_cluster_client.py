"""The client against a server that fails in the ways that API servers and proxies do."""

import json
import re
import socket
from datetime import UTC, datetime, timedelta

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st
from kubernetes.client.configuration import Configuration
from kubernetes.config import ConfigException
from unit.cluster.api_server import Answer, Handle, Request, failure, in_turn, serve
from urllib3.util.connection import create_connection

from converter.cluster.client import APPLY_PATCH, MERGE_PATCH, Client
from converter.cluster.resources import CONFIGMAPS, JOBS, LEASES, WORKLOADS
from converter.cluster.wire import as_json_and_yaml
from converter.errors import (
    ApiError,
    ClusterUnavailable,
    Conflict,
    Forbidden,
    Invalid,
    LeaseLost,
    NotFound,
)
from converter.holds.deadline import MARGIN_SECONDS

BODY = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "scan", "namespace": "n"}}
STORED = Answer(200, BODY)
LOST = Answer(lost=True)


def test_an_apply_is_strict_and_names_its_manager() -> None:
    with serve(in_turn(STORED, STORED)) as api:
        client = api.client()
        client.apply(JOBS, "n", BODY, manager="m")
        client.apply(JOBS, "n", BODY, manager="m", force=True, dry_run=True)
    plain, forced = api.requests
    assert plain.method == "PATCH"
    assert plain.path == "/apis/batch/v1/namespaces/n/jobs/scan"
    assert plain.query == {"fieldManager": "m", "fieldValidation": "Strict"}
    assert plain.headers["Content-Type"] == APPLY_PATCH
    assert plain.headers["Authorization"] == "Bearer secret"
    assert plain.body == BODY
    assert forced.query == {**plain.query, "force": "true", "dryRun": "All"}


@given(st.text(st.characters(exclude_categories=["Cs"])))
@example("\U0001f600 \x7f \x85 \u2028 \ufeff \uffff \\ud83d\\ude00 \\\U0001f600")
def test_a_body_is_read_alike_as_json_and_as_yaml(text: str) -> None:
    """An API server reads an apply patch as YAML."""
    body = {"value": [text]}
    sent = as_json_and_yaml(body)
    assert json.loads(sent) == body
    assert yaml.safe_load(sent) == body


def test_what_was_given_up_does_not_reach_the_server_for_long() -> None:
    """A call with a deadline counts on it that no request arrives much later than that."""
    with serve(in_turn(STORED)) as api:
        options = api.client()._pool.connection_pool_kw["socket_options"]
        host, _, port = api.url.removeprefix("http://").partition(":")
        with create_connection((host, int(port)), socket_options=options) as connection:
            seconds = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) / 1000
    assert 0 < seconds < MARGIN_SECONDS


def test_a_merge_patch_says_what_it_is() -> None:
    with serve(in_turn(STORED)) as api:
        api.client().merge_patch(WORKLOADS, "n", "w", {"spec": {"active": False}}, "m")
    assert api.requests[0].headers["Content-Type"] == MERGE_PATCH
    assert api.requests[0].body == {"spec": {"active": False}}


def test_a_delete_is_bound_to_the_uid_and_an_object_that_is_gone_is_deleted() -> None:
    with serve(in_turn(failure(404, "NotFound"))) as api:
        api.client().delete(JOBS, "n", "scan", uid="u")
    assert api.requests[0].body == {
        "preconditions": {"uid": "u"},
        "propagationPolicy": "Background",
    }


def test_another_object_of_the_same_name_is_not_deleted() -> None:
    with serve(in_turn(failure(409, "Conflict"))) as api, pytest.raises(Conflict):
        api.client().delete(JOBS, "n", "scan", uid="u")


def test_a_proxys_404_is_not_taken_for_a_deleted_object() -> None:
    with serve(in_turn(Answer(404, b"<html>"))) as api, pytest.raises(NotFound):
        api.client().delete(JOBS, "n", "scan", uid="u")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Invalid),
        (403, Forbidden),
        (404, NotFound),
        (409, Conflict),
        (410, ApiError),
        (422, Invalid),
    ],
)
def test_a_failure_keeps_its_status_reason_and_object(status: int, kind: type[ApiError]) -> None:
    causes = {"details": {"causes": [{"reason": "R", "field": ".spec", "message": "m"}]}}
    with (
        serve(in_turn(failure(status, "Why", "two\nlines", **causes))) as api,
        pytest.raises(kind) as caught,
    ):
        api.client().get(JOBS, "n", "scan")
    assert str(caught.value) == f"read Job/scan: {status} Why: two lines"
    assert caught.value.causes[0].field == ".spec"
    assert len(api.requests) == 1


def test_credentials_that_are_not_accepted_come_with_a_remedy() -> None:
    unauthorized = failure(401, "Unauthorized", "Unauthorized")
    with serve(in_turn(unauthorized)) as api, pytest.raises(Forbidden, match="token expired"):
        api.client().get(JOBS, "n", "scan")


@pytest.mark.parametrize(
    "trouble",
    [
        failure(500, "InternalError"),
        failure(503, "ServiceUnavailable"),
        Answer(429, b"slow down", {"Retry-After": "1"}),
        LOST,
    ],
)
def test_a_passing_fault_is_tried_again(trouble: Answer) -> None:
    with serve(in_turn(trouble, STORED)) as api:
        assert api.client().apply(JOBS, "n", BODY, manager="m") == BODY
    assert api.requests[0] == api.requests[1]


def test_a_server_that_has_just_started_is_not_taken_at_its_word_when_it_forbids() -> None:
    """It knows no roles for a moment; one that has answered all along means what it says."""
    forbidden = failure(403, "Forbidden")
    with serve(in_turn(LOST, forbidden, forbidden, STORED)) as api:
        assert api.client().apply(JOBS, "n", BODY, manager="m") == BODY
    with serve(in_turn(forbidden)) as api, pytest.raises(Forbidden):
        api.client().apply(JOBS, "n", BODY, manager="m")


def test_a_create_whose_answer_was_lost_comes_back_as_a_conflict() -> None:
    with serve(in_turn(LOST, failure(409, "AlreadyExists"))) as api, pytest.raises(Conflict):
        api.client().create(LEASES, "n", BODY)


def test_a_lasting_fault_is_the_servers_own_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with (
        serve(lambda request: failure(503, "ServiceUnavailable")) as api,
        pytest.raises(ApiError) as caught,
    ):
        api.client().get(JOBS, "n", "scan")
    assert caught.value.status == 503
    assert len(api.requests) == 5


def test_no_answer_at_all_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with (
        serve(lambda request: LOST) as api,
        pytest.raises(ClusterUnavailable, match="no answer from the API server"),
    ):
        api.client().get(JOBS, "n", "scan")


def test_a_server_that_is_not_there_is_named_without_the_story_of_the_retries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with serve(in_turn()) as api:
        client = api.client()
    with pytest.raises(ClusterUnavailable) as caught:
        client.get(JOBS, "n", "scan")
    assert re.fullmatch(
        r"no answer from the API server http://127\.0\.0\.1:\d+ to read Job/scan: "
        r"\[Errno 111\] Connection refused",
        str(caught.value),
    )


def test_a_long_retry_after_is_not_waited_out(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)
    busy = Answer(429, b"", {"Retry-After": "86400"})
    with serve(in_turn(busy, STORED)) as api:
        api.client().get(JOBS, "n", "scan")
    assert 0 < max(waits) <= 30


@pytest.mark.parametrize("garbage", [b"<html>please log in</html>", b"[]", b"", b"\xff"])
def test_an_answer_that_is_not_the_api_servers_is_no_success(garbage: bytes) -> None:
    with (
        serve(in_turn(Answer(200, garbage))) as api,
        pytest.raises(ClusterUnavailable, match="not from an API server"),
    ):
        api.client().list(JOBS, "n")


def test_a_login_page_is_not_followed() -> None:
    with (
        serve(in_turn(Answer(302, b"moved", {"Location": "/login"}))) as api,
        pytest.raises(ApiError, match="302"),
    ):
        api.client().get(JOBS, "n", "scan")
    assert len(api.requests) == 1


def page(name: str, token: str = "") -> Answer:
    metadata = {"continue": token} if token else {}
    return Answer(200, {"metadata": metadata, "items": [{"metadata": {"name": name}}]})


def listed(handle: Handle) -> tuple[list[str], list[Request]]:
    with serve(handle) as api:
        listing = api.client().list(CONFIGMAPS, "n", selector="app")
    return [item["metadata"]["name"] for item in listing], api.requests


def test_a_list_is_read_page_by_page() -> None:
    names, requests = listed(in_turn(page("a", "token"), page("b")))
    assert names == ["a", "b"]
    assert requests[0].query == {"limit": "100", "labelSelector": "app"}
    assert requests[1].query == {**requests[0].query, "continue": "token"}


def test_a_list_whose_token_expired_is_read_anew() -> None:
    expired = failure(410, "Expired")
    names, _ = listed(in_turn(page("a", "token"), expired, page("a", "token2"), page("b")))
    assert names == ["a", "b"]


def test_a_list_that_expires_again_fails() -> None:
    expired = failure(410, "Expired")
    with (
        serve(in_turn(page("a", "t"), expired, page("a", "t"), expired)) as api,
        pytest.raises(ApiError, match="410"),
    ):
        api.client().list(CONFIGMAPS, "n")


def test_the_clock_is_the_servers() -> None:
    skewed = datetime.now(UTC).replace(microsecond=0) - timedelta(days=3)
    with serve(in_turn(STORED)) as api:
        api.now = skewed
        client = api.client()
        client.get(JOBS, "n", "scan")
        assert timedelta(0) <= client.now() - skewed < timedelta(hours=1)


def test_a_server_without_a_clock_is_named() -> None:
    with serve(in_turn(STORED, Answer(200, BODY, {"Date": "yesterday"}))) as api:
        api.now = None
        client = api.client()
        for _ in range(2):
            client.get(JOBS, "n", "scan")
            with pytest.raises(ClusterUnavailable, match="no Date header"):
                client.now()


class Guard:
    """Allows so many writes."""

    def __init__(self, allowed: int) -> None:
        self.left = allowed

    def __call__(self) -> None:
        if not self.left:
            raise LeaseLost("lost")
        self.left -= 1


def test_a_guard_is_asked_before_each_write_and_no_read() -> None:
    with serve(in_turn(STORED, STORED)) as api:
        client = api.client().guarded_by(Guard(1))
        client.get(JOBS, "n", "scan")
        client.apply(JOBS, "n", BODY, manager="m", dry_run=True)
        with pytest.raises(LeaseLost):
            client.delete(JOBS, "n", "scan", uid="u")
    assert [request.method for request in api.requests] == ["GET", "PATCH"]


@pytest.mark.parametrize("trouble", [failure(500, "InternalError"), LOST])
def test_a_guard_is_asked_again_before_a_write_is_repeated(trouble: Answer) -> None:
    """A Lease can be lost while the client waits to try again."""
    with serve(in_turn(trouble, STORED)) as api, pytest.raises(LeaseLost):
        api.client().guarded_by(Guard(1)).apply(JOBS, "n", BODY, manager="m")
    assert len(api.requests) == 1


def test_the_unguarded_client_stays_unguarded() -> None:
    with serve(in_turn(STORED)) as api:
        client = api.client()
        client.guarded_by(Guard(0))
        client.apply(JOBS, "n", BODY, manager="m")
    assert len(api.requests) == 1


def test_credentials_that_cannot_be_renewed_are_an_error_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def renew(configuration: Configuration) -> None:
        raise ConfigException("exec: no such plugin")

    with serve(in_turn()) as api:
        configuration = Configuration()
        configuration.host = api.url
        monkeypatch.setattr(configuration, "refresh_api_key_hook", renew)
        configuration.api_key = {"authorization": "Bearer secret"}
        with pytest.raises(ClusterUnavailable, match="cannot be renewed: exec: no such plugin"):
            Client(configuration).get(JOBS, "n", "scan")
    assert api.requests == []
