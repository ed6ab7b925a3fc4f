"""What a comparison comes to."""

import pytest

from converter.diff.change import Action, Change, Comparison

SAME = (Action.STAYS, Action.FINISHED, Action.NOTE)


@pytest.mark.parametrize("action", Action)
def test_the_exit_code_is_2_unless_apply_has_nothing_to_do(action: Action) -> None:
    found = Comparison([Change(action, "Job/a")])
    assert found.exit_code == (0 if action in SAME else 2)


def test_nothing_is_no_difference() -> None:
    found = Comparison([])
    assert (found.exit_code, found.summary()) == (0, "no differences")


def test_a_campaign_counts_once_however_many_objects_it_has() -> None:
    found = Comparison(
        [
            Change(Action.CREATE, "ConfigMap/pipeline-p"),
            Change(Action.CREATE, "Job/a", campaign="a"),
            Change(Action.CREATE, "ConfigMap/campaign-a", campaign="a"),
            Change(Action.PAUSE, "a", campaign="a"),
            Change(Action.HELD_BACK, "campaign b", "why", "b"),
            Change(Action.STAYS, "campaign c", "why", "c"),
            Change(Action.FINISHED, "campaign d", campaign="d"),
            Change(Action.NOTE, "LocalQueue q", "why"),
        ]
    )
    assert found.counts[Action.CREATE] == 2
    assert found.summary() == (
        "differences: 2 to create, 1 to pause, 1 held back, 1 no longer in git, 1 finished"
    )


def test_what_is_no_difference_is_counted_all_the_same() -> None:
    found = Comparison([Change(Action.FINISHED, "campaign d", campaign="d")])
    assert found.summary() == "no differences: 1 finished"


def test_a_change_is_one_line() -> None:
    assert str(Change(Action.CREATE, "Job/a")) == "create: Job/a"
    assert str(Change(Action.HELD_BACK, "campaign a", "why")) == "held back: campaign a: why"
