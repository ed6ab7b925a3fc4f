"""Arrays for tests of an apply: tasks of one line of shell, which write what the real ones do."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

from converter.reconcile.slurm.submission import Submission

REPOSITORY = "archive"
TASK = """#!/bin/sh
[ ! -e paused ] || exec scontrol requeuehold "${{SLURM_ARRAY_JOB_ID}}_$SLURM_ARRAY_TASK_ID"
( {command} )
code=$?
echo "$code 1 $(date -u +%Y-%m-%dT%H:%M:%SZ)" > "results/.$SLURM_ARRAY_TASK_ID.new"
mv "results/.$SLURM_ARRAY_TASK_ID.new" "results/$SLURM_ARRAY_TASK_ID"
exit "$code"
"""


def in_directory(wanted: Submission, directory: str) -> Submission:
    """With the directory of its array, where its tasks start."""
    return replace(wanted, arguments=(*wanted.arguments, f"--chdir={directory}"))


def submission(
    name: str = "letters",
    number: int = 4,
    *,
    command: str = "true",
    inputs: str = "inputs",
    window: int = 2,
    **others: Any,
) -> Submission:
    """A campaign of so many volumes; its volumes have its name, as no two have the same."""
    volumes = tuple(f"{name}-{index}" for index in range(number))
    return Submission(
        **{
            "name": name,
            "campaign": name,
            "part": 0,
            "repository": REPOSITORY,
            "pipeline": "work",
            "priority": "",
            "files": {"task.sh": TASK.format(command=command)},
            "arguments": (
                "--hold",
                "--parsable",
                f"--job-name={name}",
                f"--array=0-{number - 1}%{window}",
                "--requeue",
                "--output=/dev/null",
            ),
            "volumes": volumes,
            "window": window,
            "volumes_sha256": hashlib.sha256(" ".join(volumes).encode()).hexdigest(),
            "inputs_sha256": hashlib.sha256(inputs.encode()).hexdigest(),
            **others,
        }
    )
