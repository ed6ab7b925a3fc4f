"""campaigns/slurm: it is valid, and its tasks do what its comments say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from converter.checks import check
from converter.load import load_repo
from converter.render.slurm import JobArray, render_slurm
from converter.slurm.layout import PAUSED, WRITTEN

SAMPLE = Path(__file__).parents[3] / "campaigns" / "slurm"
RESULTS = {"guests": ["0", "0", "0"], "ledgers": ["0", "13", "0"]}


def arrays() -> dict[str, JobArray]:
    loaded = load_repo(SAMPLE)
    assert check(loaded) == ()
    assert loaded.repo is not None
    return {array.job: array for array in render_slurm(loaded.repo)}


def prepared(array: JobArray, root: Path) -> Path:
    home = root / array.job
    for name in WRITTEN:
        (home / name).mkdir(parents=True)
    for name, text in array.files.items():
        (home / name).write_text(text)
    return home


def run(home: Path, index: int, root: Path) -> subprocess.CompletedProcess[str]:
    scontrol = root / "scontrol"
    scontrol.write_text('#!/bin/sh\necho "$*" >>"${0%/*}/calls"\n')
    scontrol.chmod(0o755)
    return subprocess.run(
        ["sh", "task.sh"],
        cwd=home,
        env={
            "PATH": f"{root}:{os.environ['PATH']}",
            "TMPDIR": str(root),
            "SLURM_ARRAY_JOB_ID": "70",
            "SLURM_ARRAY_TASK_ID": str(index),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("job", RESULTS)
def test_each_volume_ends_as_it_should(job: str, tmp_path: Path) -> None:
    array = arrays()[job]
    home = prepared(array, tmp_path)
    assert array.count == len(RESULTS[job])
    codes = [str(run(home, index, tmp_path).returncode) for index in range(array.count)]
    noted = [(home / "results" / str(i)).read_text().split()[0] for i in range(array.count)]
    assert codes == noted == RESULTS[job]


def test_the_paused_one_waits(tmp_path: Path) -> None:
    array = arrays()["late-guests"]
    assert array.suspended
    home = prepared(array, tmp_path)
    (home / PAUSED).touch()
    assert run(home, 0, tmp_path).stdout == ""
    assert (tmp_path / "calls").read_text() == "requeuehold 70_0\n"
    assert list((home / "results").iterdir()) == []
