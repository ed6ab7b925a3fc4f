"""The JSON document of `campaigns status` is what its schema says."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from converter.holds.mark import Mark
from converter.observe.admission import Admission
from converter.observe.document import status_list
from converter.observe.phase import DRIFTED, Phase
from converter.observe.places import Place
from converter.observe.status import Status

SCHEMA = json.loads((Path(__file__).parents[3] / "schemas/status.schema.json").read_text())
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
RUNNING = Status(
    "scan",
    Phase.RUNNING,
    100,
    done=50,
    created="2026-01-01T00:00:00Z",
    admission=Admission(("a100",), 0, "2026-01-01T11:00:00Z"),
)


def document(*found: Status) -> dict[str, Any]:
    made = status_list(found, NOW, "tests", "")
    jsonschema.validate(made, SCHEMA, jsonschema.Draft202012Validator)
    return made


@pytest.mark.parametrize("phase", Phase)
def test_each_phase(phase: Phase) -> None:
    (found,) = document(Status("scan", phase, 3))["campaigns"]
    assert (found["phase"], found["place"], found["eta"]) == (str(phase), None, None)


def test_the_schema_knows_every_phase() -> None:
    campaign = SCHEMA["$defs"]["campaign"]["properties"]
    assert set(campaign["clusterPhase"]["enum"]) == set(map(str, Phase))
    assert set(campaign["phase"]["enum"]) == {*map(str, Phase), DRIFTED}


def test_what_runs_has_an_eta_and_its_flavor() -> None:
    (found,) = document(RUNNING)["campaigns"]
    assert found["eta"]["seconds"] == 3600
    assert found["eta"]["low"] < 3600 < found["eta"]["high"]
    assert found["flavors"] == ["a100"]


def test_a_place_counts_from_1() -> None:
    (found,) = document(Status("scan", Phase.WAITING, 3, place=Place(2, 5, 7)))["campaigns"]
    assert found["place"] == {"localQueue": 2, "clusterQueue": 5, "priority": 7}


@pytest.mark.parametrize(
    ("mark", "shown"),
    [
        (None, None),
        (
            Mark(7, at="2026-01-01T10:00:00Z", by="ops", reason="a\nnode"),
            {"instance": 7, "since": "2026-01-01T10:00:00Z", "by": "ops", "reason": "a node"},
        ),
        (Mark(None), {"instance": None, "since": "", "by": "", "reason": ""}),
    ],
)
def test_a_hold(mark: Mark | None, shown: dict[str, Any] | None) -> None:
    (found,) = document(Status("scan", Phase.HELD, 3, hold=mark))["campaigns"]
    assert found["hold"] == shown


def test_a_document_of_another_shape_is_refused() -> None:
    made = document(RUNNING)
    made["campaigns"][0]["phase"] = "Queued"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(made, SCHEMA, jsonschema.Draft202012Validator)
