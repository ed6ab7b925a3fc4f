"""What files may ask of each backend."""

from __future__ import annotations

import pytest
from unit.checks.files import at, at_key, found, some_campaign, some_pipeline

from converter.capabilities import CAPABILITIES
from converter.model import Backend
from converter.queues import AVAILABLE

FEWER = some_campaign(window=4, min_window=2)
LIMITED = some_pipeline(max_execution_seconds=3600)


def test_every_backend_says_what_it_can_do() -> None:
    assert set(CAPABILITIES) == set(Backend)
    on_kubernetes = {backend for backend, able in CAPABILITIES.items() if able.kubernetes}
    assert on_kubernetes == set(AVAILABLE)


@pytest.mark.parametrize(
    ("backend", "min_window", "max_execution"),
    [
        (Backend.KUEUE, True, True),
        (Backend.KOORD_QUEUE, False, True),
        (Backend.NONE, False, False),
        (Backend.SLURM, False, False),
    ],
)
def test_files_ask_of_a_backend_what_it_can_do(
    backend: Backend, min_window: bool, max_execution: bool
) -> None:
    assert (found("S019", FEWER, backend=backend) == []) is min_window
    assert (found("S019", LIMITED, backend=backend) == []) is max_execution
    assert found("S019", some_campaign(window=4), some_pipeline(), backend=backend) == []


def test_slurm_needs_no_smaller_window() -> None:
    assert found("S019", FEWER, backend=Backend.SLURM) == [
        (
            "campaigns/letters.yaml",
            at_key("min_window"),
            "backend slurm starts each volume by itself, as soon as there is room for it",
            "take min_window out",
        )
    ]


def test_what_is_said_of_it() -> None:
    assert found("S019", FEWER, LIMITED, backend=Backend.NONE) == [
        (
            "campaigns/letters.yaml",
            at_key("min_window"),
            "backend none starts no campaign with fewer pods than its window",
            "take min_window out, and write the window that it can start with",
        ),
        (
            "pipelines/ocr.yaml",
            at_key("max_execution_seconds"),
            "backend none stops no campaign after a time",
            "take max_execution_seconds out; max_seconds is the time of one volume",
        ),
    ]


@pytest.mark.parametrize(
    ("backend", "kind"),
    [
        (Backend.KUEUE, "WorkloadPriorityClass"),
        (Backend.KOORD_QUEUE, "PriorityClass"),
        (Backend.NONE, "PriorityClass"),
    ],
)
def test_a_priority_is_of_the_kind_that_the_backend_has(backend: Backend, kind: str) -> None:
    (problem,) = found("C006", some_campaign(priority="high"), backend=backend)
    assert problem[1] == at("priority")
    assert f"list the {kind} in priority_classes" in problem[3]


def test_a_priority_of_slurm_is_in_its_settings() -> None:
    (problem,) = found("C006", some_campaign(priority="high"), backend=Backend.SLURM)
    assert problem[3] == "take it out, or add it to priority_classes and to slurm.priorities"


def test_the_quota_of_koord_queue_is_named() -> None:
    (problem,) = found("S013", queue="", backend=Backend.KOORD_QUEUE)
    assert "ElasticQuota" in problem[3]
