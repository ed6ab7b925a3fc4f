"""Who owns which field: FieldsV1 as structured-merge-diff writes it."""

from typing import Any

import pytest

from converter.cluster.fields import (
    applied_fields,
    extract,
    matches,
    owners,
    without_fields,
    without_managers,
)

Object = dict[str, Any]
LEAF: Object = {}


def live(*entries: tuple[str, str, Object], **content: Any) -> Object:
    """A live object with these (manager, operation, fieldsV1)."""
    metadata = content.pop("metadata", {})
    managed = [{"manager": m, "operation": op, "fieldsV1": fields} for m, op, fields in entries]
    return {"metadata": {"name": "x", **metadata, "managedFields": managed}, **content}


def body(**content: Any) -> Object:
    metadata = content.pop("metadata", {})
    return {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", **metadata}, **content}


@pytest.mark.parametrize(
    ("value", "fields", "owned"),
    [
        ({"a": 1, "b": 2}, {"f:a": LEAF}, {"a": 1}),
        ({"a": {"b": 1, "c": 2}}, {"f:a": {".": LEAF, "f:b": LEAF}}, {"a": {"b": 1}}),
        ({"a": [1, 2]}, {"f:a": LEAF}, {"a": [1, 2]}),
        ({"a": {"b": 1}}, {"f:a": {".": LEAF}}, {"a": {}}),
        ({"a": 1}, {"f:gone": LEAF}, {}),
        (
            {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
            {"f:env": {'k:{"name":"B"}': {".": LEAF, "f:name": LEAF, "f:value": LEAF}}},
            {"env": [{"name": "B", "value": "2"}]},
        ),
        (
            {"ports": [{"port": 80, "protocol": "TCP", "name": "web"}]},
            {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": LEAF, "f:port": LEAF}}},
            {"ports": [{"port": 80}]},
        ),
        (
            {"finalizers": ["ours", "theirs"]},
            {"f:finalizers": {'v:"ours"': LEAF}},
            {"finalizers": ["ours"]},
        ),
    ],
    ids=["member", "dot", "atomic", "only dot", "gone", "by key", "by two keys", "set"],
)
def test_extract_takes_what_is_owned(value: Object, fields: Object, owned: Object) -> None:
    assert extract(value, fields) == owned


def test_applied_fields_are_those_of_an_apply_to_the_object_itself() -> None:
    entry = {"manager": "m", "operation": "Apply", "fieldsV1": {"f:spec": LEAF}}
    metadata = {
        "managedFields": [
            {"manager": "m", "operation": "Update", "fieldsV1": {"f:data": LEAF}},
            {**entry, "subresource": "status", "fieldsV1": {"f:status": LEAF}},
            entry,
        ]
    }
    assert applied_fields({"metadata": metadata}, "m") == {"f:spec": LEAF}
    assert applied_fields({"metadata": metadata}, "n") == {}


def test_owners_are_told_apart_by_operation() -> None:
    suspend = {"f:spec": {"f:suspend": LEAF}}
    present = live(("m", "Apply", suspend), ("m", "Update", suspend), ("n", "Update", {}))
    assert owners(present, ("spec", "suspend")) == {("m", "Apply"), ("m", "Update")}
    assert owners(present, ("spec", "parallelism")) == frozenset()


A1 = {"f:data": {"f:a": LEAF}}


@pytest.mark.parametrize(
    ("present", "wanted", "same"),
    [
        (live(("m", "Apply", A1), data={"a": "1"}), body(data={"a": "1"}), True),
        (live(("m", "Apply", A1), data={"a": "1", "x": "9"}), body(data={"a": "1"}), True),
        (live(("m", "Apply", A1), data={"a": "2"}), body(data={"a": "1"}), False),
        (live(("m", "Apply", A1), data={"a": "1"}), body(data={"a": "1", "b": "1"}), False),
        (live(("m", "Apply", A1), data={"a": "1"}), body(), False),
        (live(("m", "Update", A1), data={"a": "1"}), body(data={"a": "1"}), False),
        (live(("n", "Apply", A1), data={"a": "1"}), body(data={"a": "1"}), False),
    ],
    ids=["same", "another's member", "value", "added", "taken away", "by update", "other's"],
)
def test_matches_says_whether_an_apply_would_change_nothing(
    present: Object, wanted: Object, same: bool
) -> None:
    assert matches(present, wanted, "m") is same


NO_LABELS = {"f:metadata": {"f:labels": LEAF}}
NO_SELECTOR = {"f:spec": {"f:nodeSelector": LEAF}}
KUEUES = {"f:metadata": {"f:labels": {"f:queue": LEAF}}}


@pytest.mark.parametrize(
    ("present", "wanted", "same"),
    [
        (live(("m", "Apply", NO_LABELS)), body(metadata={"labels": {}}), True),
        (
            live(("m", "Apply", NO_LABELS), metadata={"labels": {}}),
            body(metadata={"labels": {}}),
            True,
        ),
        (
            live(("m", "Apply", NO_LABELS), metadata={"labels": {"queue": "default"}}),
            body(metadata={"labels": {}}),
            True,
        ),
        (
            live(
                ("m", "Apply", NO_LABELS),
                ("kueue", "Update", KUEUES),
                metadata={"labels": {"queue": "gpu"}},
            ),
            body(metadata={"labels": {}}),
            True,
        ),
        (
            live(
                ("m", "Apply", NO_LABELS),
                ("kueue", "Update", KUEUES),
                metadata={"labels": {"queue": "gpu"}},
            ),
            body(metadata={"labels": {"queue": "gpu"}}),
            False,
        ),
        (
            live(("m", "Apply", NO_SELECTOR), spec={"nodeSelector": {"pool": "a"}}),
            body(spec={"nodeSelector": {"pool": "a"}}),
            True,
        ),
        (
            live(("m", "Apply", NO_SELECTOR), spec={"nodeSelector": {"pool": "a"}}),
            body(spec={"nodeSelector": {}}),
            False,
        ),
    ],
    ids=[
        "no labels at all",
        "empty labels",
        "a label from a webhook, without owner",
        "a label of another manager",
        "a label to be owned as well",
        "an atomic map",
        "an atomic map to be emptied",
    ],
)
def test_a_map_owned_as_a_leaf_is_atomic_or_was_applied_empty(
    present: Object, wanted: Object, same: bool
) -> None:
    assert matches(present, wanted, "m") is same


def test_an_owned_leaf_whose_value_is_empty_counts_as_absent() -> None:
    fields = {"f:spec": {"f:env": {'k:{"name":"A"}': {".": LEAF, "f:name": LEAF}}}}
    present = live(("m", "Apply", fields), spec={"env": [{"name": "A"}]})
    assert matches(present, body(spec={"env": [{"name": "A", "value": ""}]}), "m")


@pytest.mark.parametrize(
    ("theirs", "kept", "left"),
    [
        ({"f:spec": {"f:suspend": LEAF}}, {}, {"spec": {"n": 2, "t": {"a": 1}}}),
        (
            {"f:spec": {"f:suspend": LEAF}},
            {"f:spec": {"f:suspend": LEAF}},
            {"spec": {"suspend": True, "n": 2, "t": {"a": 1}}},
        ),
        ({"f:spec": {"f:t": {"f:a": LEAF}}}, {}, {"spec": {"suspend": True, "n": 2, "t": {}}}),
        ({"f:spec": {"f:other": LEAF}}, {}, {"spec": {"suspend": True, "n": 2, "t": {"a": 1}}}),
    ],
    ids=["taken over", "shared with us", "deeper", "not ours"],
)
def test_without_fields_drops_what_others_took_over(
    theirs: Object, kept: Object, left: Object
) -> None:
    rendered = {"spec": {"suspend": True, "n": 2, "t": {"a": 1}}}
    assert without_fields(rendered, theirs, kept) == left


def test_without_managers_drops_controllers_fields_and_no_hand_edits() -> None:
    present = live(
        ("kueue", "Update", {"f:spec": {"f:suspend": LEAF}}),
        ("kubectl-edit", "Update", {"f:spec": {"f:n": LEAF}}),
    )
    rendered = {"spec": {"suspend": True, "n": 2}}
    assert without_managers(rendered, present, lambda m: m == "kueue", {}) == {"spec": {"n": 2}}
    assert rendered == {"spec": {"suspend": True, "n": 2}}
