"""What ``squeue --json`` prints, of release 22.05 and of those with a data parser (v0.0.39 on).

22.05 writes plain numbers and one state word (its src/plugins/openapi/v0.0.38/jobs.c); later ones
write ``{"set", "infinite", "number"}`` for what may be missing, and from v0.0.40 a list of state
words; with the flag ``complex`` they write null and ``"Infinity"`` instead.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from converter.slurm.errors import SlurmUnavailable, SlurmUnreadable
from converter.slurm.job import STATES, Job
from converter.wording import said

# NO_VAL and INFINITE of slurm.h, and their 64-bit versions, also as a signed number prints them.
_NO_VALUES_64: Final = frozenset((2**64 - 2, 2**64 - 1, -2, -1))
_NO_VALUES: Final = _NO_VALUES_64 | {2**32 - 2, 2**32 - 1}
# Without these a job could be mistaken for another, or a hold for none.
_NEEDED: Final = (
    "job_id",
    "name",
    "comment",
    "job_state",
    "state_reason",
    "submit_time",
    "eligible_time",
    "restart_cnt",
    "priority",
    "array_job_id",
    "array_task_id",
    "array_task_string",
)
_OBJECT: Final = re.compile(r"^\{", re.MULTILINE)

Record = Mapping[str, Any]


def parse_jobs(text: str) -> list[Job]:
    """Every job that squeue knows, ended ones too.

    Raises SlurmUnavailable where the controller did not answer: squeue then exits 0 with no jobs,
    and says so in ``errors`` alone. Raises SlurmUnreadable for what is no such answer.
    """
    answer = _answer(text)
    errors = answer.get("errors")
    if not isinstance(errors, list):
        raise SlurmUnreadable("squeue --json has no list of errors, so its jobs cannot be trusted")
    if errors:
        raise SlurmUnavailable(f"Slurm did not answer squeue: {_first(errors)}")
    jobs = answer["jobs"]
    if not isinstance(jobs, list):
        raise SlurmUnreadable("squeue --json has jobs that are no list")
    return [_job(job) for job in jobs]


def _answer(text: str) -> Record:
    """The object with the jobs; Slurm's libraries may print warnings before it."""
    decoder = json.JSONDecoder()
    for opening in _OBJECT.finditer(text):
        try:
            found, _ = decoder.raw_decode(text, opening.start())
        except (ValueError, RecursionError):
            continue
        if "jobs" in found:
            answer: Record = found
            return answer
    shown = said(text, 80)
    raise SlurmUnreadable(
        f"squeue --json printed no JSON with jobs, but {shown!r}"
        if shown
        else "squeue --json printed nothing"
    )


def _first(errors: Sequence[Any]) -> str:
    error = errors[0]
    if not isinstance(error, dict):
        return said(error)
    told = [said(error.get(key)) for key in ("description", "error", "source")]
    return ": ".join(each for each in told if each) or "an error without a text"


def _job(job: Any) -> Job:
    if not isinstance(job, dict):
        raise SlurmUnreadable("squeue --json has a job that is no object")
    missing = [key for key in _NEEDED if key not in job]
    if missing:
        raise SlurmUnreadable(f"{_named(job)} has no {', no '.join(missing)}")
    state, flags = _state(job)
    exit_code, signal = _exit(job)
    return Job(
        job_id=_needed(job, "job_id"),
        name=_text(job, "name"),
        state=state,
        reason=_text(job, "state_reason"),
        submit=_past(job, "submit_time"),
        eligible=_time(job, "eligible_time"),
        restarts=_needed(job, "restart_cnt"),
        comment=_text(job, "comment"),
        flags=flags,
        array_job_id=_count(job, "array_job_id") or None,
        array_task_id=_count(job, "array_task_id"),
        array_tasks=_text(job, "array_task_string"),
        user=_text(job, "user_name"),
        partition=_text(job, "partition"),
        start=_time(job, "start_time"),
        end=_past(job, "end_time"),
        priority=_count(job, "priority"),
        exit_code=exit_code,
        signal=signal,
        may_requeue=job.get("requeue") is not False,
        dependency=_text(job, "dependency"),
        time_limit=_count(job, "time_limit"),
        nodes=_text(job, "nodes"),
        script=_text(job, "command"),
        description=_text(job, "state_description"),
    )


def _state(job: Record) -> tuple[str, tuple[str, ...]]:
    """The state, and what stands beside it; a flag is the state where there is no other word."""
    value = job["job_state"]
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not words or not all(isinstance(w, str) for w in words):
        raise _odd(job, "job_state")
    state = next((word for word in words if word in STATES), words[0])
    return state, tuple(word for word in words if word != state)


def _exit(job: Record) -> tuple[int | None, int | None]:
    """The exit code and the signal, of which one is None."""
    value = job.get("exit_code")
    if isinstance(value, dict) and "return_code" in value:
        by = value.get("signal")
        key = "id" if isinstance(by, dict) and "id" in by else "signal_id"
        signal = _count(by, key) if isinstance(by, dict) else None
        return (None, signal) if signal else (_count(value, "return_code"), None)
    status = _count(job, "exit_code")
    if status is None:
        return None, None
    # As wait(2) has it.
    signal = status & 0x7F
    return (None, signal) if signal else (status >> 8 & 0xFF, None)


def _number(job: Record, key: str) -> int | None:
    value = job.get(key)
    if isinstance(value, dict):
        if value.get("infinite") or not value.get("set"):
            return None
        value = value.get("number")
    if value is None or value == "Infinity":
        return None
    if type(value) is not int:
        raise _odd(job, key)
    return value


def _count(job: Record, key: str) -> int | None:
    number = _number(job, key)
    return None if number in _NO_VALUES else number


def _needed(job: Record, key: str) -> int:
    number = _count(job, key)
    if number is None or number < 0:
        raise _odd(job, key)
    return number


def _time(job: Record, key: str) -> int | None:
    """A time that a hold can have: some have one of the two numbers that 32 bits call no value."""
    number = _number(job, key)
    return None if number is None or number <= 0 or number in _NO_VALUES_64 else number


def _past(job: Record, key: str) -> int | None:
    number = _time(job, key)
    return None if number in _NO_VALUES else number


def _text(job: Record, key: str) -> str:
    value = job.get(key)
    if value is not None and not isinstance(value, str):
        raise _odd(job, key)
    return value or ""


def _odd(job: Record, key: str) -> SlurmUnreadable:
    return SlurmUnreadable(
        f"{_named(job)} has the {key} {said(json.dumps(job.get(key)), 80)}, which no release of "
        "Slurm that is known here writes"
    )


def _named(job: Record) -> str:
    return f"the job {said(json.dumps(job.get('job_id')), 40)} of squeue --json"
