"""The metrics, as Prometheus' own parsers read them."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import parser as older_parser
from prometheus_client.openmetrics import parser

from converter.holds.mark import Mark
from converter.observe.admission import Admission
from converter.observe.openmetrics import PHASES, exposition
from converter.observe.phase import Phase
from converter.observe.places import Place
from converter.observe.status import Status

CHECKOUT = Path(__file__).parents[3]
NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)
HOUR_AGO = "2026-05-04T11:00:00Z"
REPOSITORY = "git.example.com/team/campaigns"
Sample = tuple[str, dict[str, str], float]


def parsed(text: str, module: Any = parser) -> list[Any]:
    # As lines: the parser's own reading of a text takes a carriage return for the end of one.
    return list(module.text_fd_to_metric_families(text.removesuffix("\n").split("\n")))


def samples(families: list[Any]) -> list[Sample]:
    return [(each.name, each.labels, each.value) for family in families for each in family.samples]


def read(*statuses: Status) -> list[Sample]:
    """Every sample; the older text format's parser must read the same."""
    text = exposition(statuses, NOW, REPOSITORY)
    found = samples(parsed(text))
    assert samples(parsed(text, older_parser)) == found
    return found


def of_letters(status: Status, name: str) -> dict[str, float]:
    """The values of one metric by the one label that tells them apart, else by nothing."""
    found = {}
    for sample, labels, value in read(status):
        if sample == name:
            assert labels.pop("repository") == REPOSITORY
            assert labels.pop("campaign") == "letters"
            found[",".join(labels.values())] = value
    return found


def letters(phase: Phase = Phase.RUNNING, **fields: Any) -> Status:
    return Status("letters", phase, fields.pop("total", 10), **fields)


@pytest.mark.parametrize("phase", Phase)
@pytest.mark.parametrize("drift", ["", "git pauses it, and no apply has"])
def test_one_phase_is_1_and_it_is_the_one_that_status_shows(phase: Phase, drift: str) -> None:
    status = letters(phase, drift=drift)
    found = of_letters(status, "campaigns_campaign_phase")
    assert list(found) == list(PHASES)
    assert [name for name, value in found.items() if value == 1] == [status.shown_phase]
    assert sorted(found.values()) == [0] * (len(PHASES) - 1) + [1]


PLACE = Place(in_local_queue=2, in_cluster_queue=5, priority=0)
SINCE = {"since": HOUR_AGO}
RUNNING = Admission(("gpu-a",), 0, HOUR_AGO)


@pytest.mark.parametrize(
    ("metric", "status", "expected"),
    [
        ("volumes", letters(done=4, failed=1), {"done": 4, "failed": 1, "left": 5}),
        ("volumes", letters(Phase.MISSING), {"done": 0, "failed": 0, "left": 10}),
        ("pods", letters(active=3, ready=2), {"": 3}),
        ("pods", letters(Phase.PAUSED), {"": 0}),
        ("queue_position", letters(Phase.WAITING, place=PLACE), {"": 5}),
        ("queue_position", letters(Phase.WAITING), {}),
        ("paused_seconds", letters(Phase.PAUSED, **SINCE), {"": 3600}),
        ("paused_seconds", letters(Phase.HELD, **SINCE), {"": 3600}),
        ("paused_seconds", letters(Phase.PAUSING, drift="other window", **SINCE), {"": 3600}),
        ("paused_seconds", letters(Phase.PAUSED, since="2026-05-04T12:00:01Z"), {"": 0}),
        ("paused_seconds", letters(Phase.PAUSED), {}),
        ("paused_seconds", letters(Phase.WAITING, **SINCE), {}),
        ("paused_seconds", letters(Phase.FINISHED, **SINCE), {}),
        ("hold_seconds", letters(Phase.HELD, hold=Mark(7, at=HOUR_AGO)), {"": 3600}),
        ("hold_seconds", letters(hold=Mark(7, at="2026-05-04T12:00:01Z")), {"": 0}),
        ("hold_seconds", letters(hold=Mark(7, at="today")), {}),
        ("hold_seconds", letters(Phase.PAUSED, **SINCE), {}),
        ("hold_instance", letters(Phase.HELD, hold=Mark(7)), {"": 7}),
        ("hold_instance", letters(Phase.HELD, hold=Mark(None)), {}),
        ("created_timestamp_seconds", letters(created="1970-01-01T00:01:00Z"), {"": 60}),
        ("created_timestamp_seconds", letters(), {}),
        ("created_timestamp_seconds", letters(created="yesterday"), {}),
        ("paused_seconds", letters(Phase.PAUSED, since="2026-05-04T11:00:00"), {}),
        ("eta_seconds", letters(done=4, failed=1, admission=RUNNING), {"": 3600}),
        ("eta_seconds", letters(done=2, admission=RUNNING), {}),
        ("eta_seconds", letters(Phase.PAUSED, done=5, admission=RUNNING), {}),
    ],
)
def test_what_is_not_known_is_left_out(
    metric: str, status: Status, expected: dict[str, float]
) -> None:
    assert of_letters(status, f"campaigns_campaign_{metric}") == expected


def test_what_a_campaign_is_made_of() -> None:
    status = letters(
        pipeline="ocr",
        priority="urgent",
        size="big",
        queue="batch",
        admission=Admission(("gpu-a", "gpu-b")),
    )
    assert of_letters(status, "campaigns_campaign_info") == {"ocr,urgent,big,batch,gpu-a,gpu-b": 1}


def test_campaigns_are_counted_by_phase() -> None:
    found = read(
        Status("a", Phase.RUNNING, 1),
        Status("b", Phase.RUNNING, 1, drift="other window"),
        Status("c", Phase.PAUSED, 1),
        Status("d", Phase.PAUSED, 1),
    )
    counts = {labels["phase"]: value for name, labels, value in found if name.endswith("campaigns")}
    expected = {"Running": 1, "Drifted": 1, "Paused": 2}
    assert counts == {phase: expected.get(phase, 0) for phase in PHASES}


def test_without_a_campaign_the_metrics_are_there_all_the_same() -> None:
    assert {value for _, _, value in read()} == {0}
    text = exposition((), NOW, REPOSITORY)
    assert text.endswith("\n# EOF\n")
    assert text.count("# TYPE ") == 11


def test_units_are_named() -> None:
    families = parsed(exposition([letters()], NOW, REPOSITORY))
    units = {family.name: family.unit for family in families}
    assert {name for name, unit in units.items() if unit == "seconds"} == {
        name for name in units if name.endswith("_seconds")
    }
    assert len([unit for unit in units.values() if unit]) == 4


@pytest.mark.parametrize("text", ['say "no"', "back\\slash\\n", "two\nlines", 'all\\"\n', "ä{}, #"])
def test_labels_are_read_back_as_they_were(text: str) -> None:
    assert of_letters(letters(priority=text), "campaigns_campaign_info") == {text: 1}


@given(text=st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_label_is_read_back_as_it_was(text: str) -> None:
    families = parsed(exposition([letters(priority=text)], NOW, text))
    assert {labels["repository"] for _, labels, _ in samples(families)} == {text}


def test_the_document_names_these_metrics_and_no_other() -> None:
    document = (CHECKOUT / "docs/metrics.md").read_text()
    named = {family.name for family in parsed(exposition([letters()], NOW, REPOSITORY))}
    assert set(re.findall(r"\bcampaigns_\w+", document)) == named
    for name in named:
        assert f"| `{name}` |" in document
