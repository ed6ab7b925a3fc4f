"""Jobs as values, and as each release of squeue prints them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from converter.slurm.job import Job

SUBMIT: Final = 1_796_134_596  # 2026-12-01T14:16:36Z
NO_VALUE: Final = {"set": False, "infinite": False, "number": 0}


def job(**others: Any) -> Job:
    """A pending job behind its start gate."""
    gated = Job(
        job_id=31,
        name="letters",
        state="PENDING",
        reason="JobHeldUser",
        submit=SUBMIT,
        eligible=None,
        restarts=0,
        priority=0,
    )
    return replace(gated, **others)


def as_22_05(**others: Any) -> dict[str, Any]:
    """A record of ``squeue --json`` of 22.05, of what is read here and a little of the rest."""
    record = {
        "account": "",
        "accrue_time": 0,
        "array_job_id": 0,
        "array_task_id": None,
        "array_max_tasks": 0,
        "array_task_string": "",
        "comment": "",
        "dependency": "",
        "eligible_time": 0,
        "end_time": 0,
        "exit_code": 0,
        "flags": [],
        "job_id": 31,
        "job_resources": {},
        "job_state": "PENDING",
        "name": "letters",
        "nodes": "",
        "partition": "gpu",
        "priority": 0,
        "requeue": True,
        "restart_cnt": 0,
        "start_time": 0,
        "state_reason": "JobHeldUser",
        "submit_time": SUBMIT,
        "time_limit": None,
        "user_name": "anna",
    }
    return {**record, **others}


def as_later(**others: Any) -> dict[str, Any]:
    """The same job as a data parser from v0.0.40 on has it."""
    times = ("accrue_time", "eligible_time", "end_time", "start_time", "submit_time")
    numbers = (*times, "array_job_id", "array_max_tasks", "priority")
    old = as_22_05()
    record = {
        **old,
        **{key: number(old[key]) for key in numbers},
        "array_task_id": NO_VALUE,
        "exit_code": ended(0),
        "hold": True,
        "job_state": ["PENDING"],
        "time_limit": {"set": False, "infinite": True, "number": 0},
    }
    return {**record, **others}


def number(value: int) -> dict[str, Any]:
    """A number of a later release that is there."""
    return {"set": True, "infinite": False, "number": value}


def ended(code: int, signal: int = 0) -> dict[str, Any]:
    """An exit code of a later release."""
    return {
        "status": ["SIGNALED" if signal else "SUCCESS"],
        "return_code": NO_VALUE if signal else number(code),
        "signal": {"id": number(signal) if signal else NO_VALUE, "name": ""},
    }


def answer(*jobs: object, **others: Any) -> str:
    """What squeue prints."""
    whole = {"meta": {"Slurm": {"release": "22.05.8"}}, "errors": [], "jobs": list(jobs)}
    return json.dumps({**whole, **others}, indent=2)
