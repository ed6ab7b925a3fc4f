"""What squeue prints, of each release."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.slurm.records import NO_VALUE, SUBMIT, answer, as_22_05, as_later, ended, number

from converter.errors import CampaignsError
from converter.slurm.errors import SlurmUnavailable, SlurmUnreadable
from converter.slurm.job import Job
from converter.slurm.squeue import parse_jobs
from converter.slurm.times import BASE_SECONDS, decode

HELD = SUBMIT + BASE_SECONDS + 7


def only(record: dict[str, Any]) -> Job:
    [found] = parse_jobs(answer(record))
    return found


@pytest.mark.parametrize("record", [as_22_05, as_later])
def test_a_gated_job_of_each_release(record: Any) -> None:
    assert only(record()) == Job(
        job_id=31,
        name="letters",
        state="PENDING",
        reason="JobHeldUser",
        submit=SUBMIT,
        eligible=None,
        restarts=0,
        priority=0,
        user="anna",
        partition="gpu",
        exit_code=0,
    )


def test_a_release_between_the_two_has_plain_times_and_one_word() -> None:
    """v0.0.39 of release 23.02."""
    record = as_later(
        job_state="PENDING", submit_time=SUBMIT, eligible_time=HELD, exit_code=number(256)
    )
    found = only(record)
    assert (found.state, found.submit, found.eligible) == ("PENDING", SUBMIT, HELD)
    assert (found.exit_code, found.signal) == (1, None)


def test_the_complex_form_of_later_releases() -> None:
    record = as_22_05(job_state=["RUNNING"], priority=None, time_limit="Infinity", end_time=None)
    found = only(record)
    assert (found.priority, found.time_limit, found.end) == (None, None, None)


@pytest.mark.parametrize("wrap", [int, number])
@pytest.mark.parametrize("epoch", [HELD, 2**31, 2**32 - 2, 2**32 - 1, 2**32, HELD - 7 + 2**32 - 1])
def test_a_time_that_a_hold_can_have_is_a_time(wrap: Any, epoch: int) -> None:
    found = only(as_later(eligible_time=wrap(epoch), start_time=wrap(epoch)))
    assert (found.eligible, found.start) == (epoch, epoch)
    assert decode(found.eligible, found.submit) == epoch - SUBMIT - BASE_SECONDS


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1, -2, 2**64 - 1, 2**64 - 2, None, "Infinity", NO_VALUE, number(0)),
        number(2**64 - 2),
        {"set": False, "infinite": True, "number": 0},
        {"set": False, "infinite": False, "number": HELD},
    ],
)
def test_a_time_that_is_none(value: object) -> None:
    assert only(as_22_05(eligible_time=value)).eligible is None
    assert only(as_22_05(submit_time=value)).submit is None


@pytest.mark.parametrize("value", [2**32 - 2, 2**32 - 1, 2**64 - 2, number(2**32 - 1), None])
def test_a_number_that_is_none(value: object) -> None:
    found = only(
        as_22_05(
            priority=value, time_limit=value, submit_time=value, end_time=value, array_task_id=value
        )
    )
    assert (found.priority, found.time_limit) == (None, None)
    assert (found.submit, found.end, found.array_task_id) == (None, None, None)


@pytest.mark.parametrize(
    ("value", "code", "signal"),
    [
        (0, 0, None),
        (13 << 8, 13, None),
        (255 << 8, 255, None),
        (9, None, 9),
        (15 | 0x80, None, 15),
        (2**32 - 2, None, None),
        (number(13 << 8), 13, None),
        (NO_VALUE, None, None),
        (ended(13), 13, None),
        (ended(0, 9), None, 9),
        ({"status": "SIGNALED", "return_code": 0, "signal": {"signal_id": 9}}, None, 9),
        ({"status": "SUCCESS", "return_code": 13}, 13, None),
    ],
)
def test_how_it_ended(value: object, code: int | None, signal: int | None) -> None:
    found = only(as_later(exit_code=value))
    assert (found.exit_code, found.signal) == (code, signal)


@pytest.mark.parametrize(
    ("value", "state", "flags"),
    [
        ("COMPLETING", "COMPLETING", ()),
        (["CANCELLED", "COMPLETING"], "CANCELLED", ("COMPLETING",)),
        (["COMPLETING", "PENDING"], "PENDING", ("COMPLETING",)),
        (["SPECIAL_EXIT"], "SPECIAL_EXIT", ()),
        (["RUNNING", "CONFIGURING", "SIGNALING"], "RUNNING", ("CONFIGURING", "SIGNALING")),
    ],
)
def test_the_words_of_a_state(value: object, state: str, flags: tuple[str, ...]) -> None:
    found = only(as_later(job_state=value))
    assert (found.state, found.flags) == (state, flags)


def test_task_0_of_an_array_is_a_task() -> None:
    old = only(as_22_05(array_job_id=29, array_task_id=0, job_id=30))
    new = only(as_later(array_job_id=number(29), array_task_id=number(0), job_id=30))
    assert (old.array_job_id, old.array_task_id) == (29, 0)
    assert old == new


def test_the_rest_of_an_array_waits_together() -> None:
    found = only(as_22_05(array_job_id=29, job_id=29, array_task_string="1,3-5%2"))
    assert (found.array_job_id, found.array_task_id, found.array_tasks) == (29, None, "1,3-5%2")


def test_no_jobs_is_no_jobs() -> None:
    assert parse_jobs(answer()) == []


DOWN = {
    "description": "Failed while looking for jobs",
    "error_number": 1,
    "error": "Unable to contact slurm controller (connect failure)",
    "source": "slurm_load_jobs",
}


def test_a_controller_that_is_down_has_not_no_jobs() -> None:
    with pytest.raises(SlurmUnavailable) as raised:
        parse_jobs(answer(errors=[DOWN]))
    assert not isinstance(raised.value, SlurmUnreadable)
    assert str(raised.value) == (
        "Slurm did not answer squeue: Failed while looking for jobs: Unable to contact slurm "
        "controller (connect failure): slurm_load_jobs"
    )


@pytest.mark.parametrize("errors", [[DOWN], [{}], ["down"], [None]])
def test_an_error_beside_jobs_is_an_error(errors: list[object]) -> None:
    with pytest.raises(SlurmUnavailable):
        parse_jobs(answer(as_22_05(), errors=errors))


@pytest.mark.parametrize("before", ["", "squeue: warning: {odd}\n", '{"level": "warn"}\n', "{\n"])
@pytest.mark.parametrize("after", ["", "\n", "\nslurm: bye\n"])
def test_a_warning_around_the_answer_is_survived(before: str, after: str) -> None:
    assert len(parse_jobs(before + answer(as_22_05()) + after)) == 1


def test_an_answer_on_one_line() -> None:
    assert len(parse_jobs(json.dumps(json.loads(answer(as_22_05()))))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n",
        "slurm_load_jobs error: Unable to contact slurm controller (connect failure)",
        "[]",
        "{}",
        "null",
        '{"jobs": []}',
        '{"jobs": [], "errors": null}',
        '{"jobs": {}, "errors": []}',
        '{"jobs": [1], "errors": []}',
        "[" * 100_000,
        "{" * 10,
        '{"jobs":' + "[" * 100_000,
        '{\n  "jobs": [\n    {"job_id": 31, "jobs": [], "errors": []},\n',
    ],
)
def test_what_is_no_answer_says_nothing(text: str) -> None:
    with pytest.raises(SlurmUnreadable):
        parse_jobs(text)


def test_an_answer_that_was_cut_says_nothing() -> None:
    whole = answer(as_22_05(), as_22_05(job_id=32))
    for end in range(0, len(whole) - 1, 7):
        with pytest.raises(SlurmUnreadable):
            parse_jobs(whole[:end])


NEEDED = """
    job_id name comment job_state state_reason submit_time eligible_time restart_cnt priority
    array_job_id array_task_id array_task_string
"""


@pytest.mark.parametrize("key", NEEDED.split())
def test_a_job_without_what_is_needed_is_not_read(key: str) -> None:
    record = as_22_05()
    del record[key]
    with pytest.raises(SlurmUnreadable, match=f"has no {key}$"):
        parse_jobs(answer(record))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("job_id", None),
        ("job_id", 2**32 - 2),
        ("job_id", "31"),
        ("restart_cnt", None),
        ("restart_cnt", -3),
        ("submit_time", "2026-12-01"),
        ("eligible_time", True),
        ("eligible_time", 1.5),
        ("eligible_time", [1]),
        ("job_state", None),
        ("job_state", []),
        ("job_state", [1]),
        ("comment", {"job": ""}),
        ("exit_code", "0:0"),
        ("priority", {"set": True, "infinite": False, "number": "1"}),
    ],
)
def test_an_odd_value_is_named(key: str, value: object) -> None:
    with pytest.raises(SlurmUnreadable, match=f"has the {key} "):
        parse_jobs(answer({**as_22_05(), key: value}))


def test_a_null_text_is_empty() -> None:
    found = only(as_22_05(comment=None, nodes=None, array_task_string=None))
    assert (found.comment, found.nodes, found.array_tasks) == ("", "", "")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(as_22_05())), JSON))
def test_any_record_is_a_job_or_one_sentence(others: dict[str, Any]) -> None:
    for record in (as_22_05(**others), as_later(**others)):
        assert _error(answer(record)).count("\n") == 0


def _error(text: str) -> str:
    try:
        parse_jobs(text)
    except CampaignsError as error:
        return str(error)
    return ""
