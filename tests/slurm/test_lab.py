"""The Slurm of the other tests: does it what theirs rely on?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from localcluster import process
from localcluster.bringup import wait_until
from localcluster.errors import ClusterError
from localslurm import Options, Slurm, SshHost

SECONDS = 30.0
ENDED = {"COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT"}


def job_of(slurm: Slurm, job_id: int) -> dict[str, Any]:
    return next(job for job in slurm.jobs() if job["job_id"] == job_id)


def tasks_of(slurm: Slurm, job_id: int) -> list[dict[str, Any]]:
    return [job for job in slurm.jobs() if job["array_job_id"] == job_id]


def wait_for_state(slurm: Slurm, job_id: int, state: str) -> None:
    def reached() -> bool:
        return bool(job_of(slurm, job_id)["job_state"] == state)

    wait_until(f"job {job_id} {state}", reached, SECONDS)


def wait_for_file(path: Path) -> None:
    wait_until(str(path), path.exists, SECONDS)


def test_a_job_runs_on_every_node(slurm: Slurm, tmp_path: Path) -> None:
    jobs = [
        slurm.submit(f"echo $SLURMD_NODENAME > {tmp_path}/{number}", "--exclusive")
        for number in range(4)
    ]
    for job in jobs:
        wait_for_state(slurm, job, "COMPLETED")
    assert {(tmp_path / str(number)).read_text() for number in range(4)} == {
        "n1\n",
        "n2\n",
        "n3\n",
        "n4\n",
    }


def test_a_job_with_a_gpu(slurm: Slurm, tmp_path: Path) -> None:
    job = slurm.submit(f"echo $CUDA_VISIBLE_DEVICES > {tmp_path}/gpus", "--gres=gpu:2")
    wait_for_state(slurm, job, "COMPLETED")
    assert (tmp_path / "gpus").read_text() == "0,1\n"
    with pytest.raises(ClusterError, match="Requested node configuration is not available"):
        slurm.submit("true", "--gres=gpu:3")


def test_an_array_with_a_throttle_and_its_exit_codes(slurm: Slurm, tmp_path: Path) -> None:
    go = tmp_path / "go"
    command = f"while [ ! -e {go} ]; do sleep 0.1; done; exit $SLURM_ARRAY_TASK_ID"
    array = slurm.submit(command, "--array=0-3%2")
    wait_until("two tasks", lambda: states(slurm, array).count("RUNNING") == 2, SECONDS)
    assert states(slurm, array).count("PENDING") == 1  # one record for those that are not begun
    go.touch()
    wait_until("the array", lambda: set(states(slurm, array)) <= ENDED, SECONDS)
    found = {t["array_task_id"]: t["exit_code"] >> 8 for t in tasks_of(slurm, array)}
    assert found == {0: 0, 1: 1, 2: 2, 3: 3}


def states(slurm: Slurm, array: int) -> list[str]:
    return [task["job_state"] for task in tasks_of(slurm, array)]


def test_a_job_is_completing_as_long_as_its_epilog_runs(slurm: Slurm) -> None:
    slurm.set_epilog_seconds(600)
    try:
        job = slurm.submit("true")
        wait_for_state(slurm, job, "COMPLETING")
    finally:
        slurm.set_epilog_seconds(0)
        process.kill(
            found
            for found in process.with_variable("SLURM_CONF", str(slurm.files.daemon_conf))
            if b"sleep\x00600" in Path(f"/proc/{found.pid}/cmdline").read_bytes()
        )
    wait_for_state(slurm, job, "COMPLETED")


def test_a_node_that_is_down_gives_its_job_back(slurm: Slurm) -> None:
    job = slurm.submit("sleep 600", "--nodelist=n2")
    wait_for_state(slurm, job, "RUNNING")
    slurm.set_node("n2", "DOWN")
    wait_for_state(slurm, job, "PENDING")
    slurm.ask("scancel", str(job))
    slurm.set_node("n2", "RESUME")
    wait_until("n2", lambda: slurm.nodes()["n2"] == "idle", SECONDS)


def test_a_login_by_ssh_finds_the_commands(slurm: Slurm, slurm_host: SshHost) -> None:
    job = slurm.submit("true", "--hold")
    done = slurm_host.run(["squeue", "--noheader", "--format=%i %r", f"--jobs={job}"])
    assert (done.returncode, done.stdout) == (0, f"{job} JobHeldUser\n"), done.stderr
    environment = {**os.environ, "PATH": f"{slurm_host.bin}:{os.environ['PATH']}"}
    submit = ("ssh", "slurm-host", "sbatch", "--parsable", "--wrap=pwd", "--output=pwd.txt")
    by_path = subprocess.run(
        submit, env=environment, capture_output=True, text=True, check=True
    ).stdout
    wait_for_state(slurm, int(by_path), "COMPLETED")
    assert (slurm.files.home / "pwd.txt").read_text() == f"{slurm.files.home}\n"
    slurm.ask("scancel", str(job))


def test_jobs_outlive_their_controller_and_are_forgotten(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path
) -> None:
    slurm = new_slurm(Options(nodes=2, min_job_age=2))
    job = slurm.submit(f"until [ -e {tmp_path}/go ]; do sleep 0.1; done", "--comment=kept")
    held = slurm.submit("true", "--hold")
    wait_for_state(slurm, job, "RUNNING")
    slurm.stop_controller()
    assert slurm.running()["slurmctld"] is None
    (tmp_path / "go").touch()
    slurm.start_controller()
    assert job_of(slurm, held)["state_reason"] == "JobHeldUser"
    assert job_of(slurm, job)["comment"] == "kept"
    wait_for_state(slurm, job, "COMPLETED")
    wait_until("forgotten", lambda: {j["job_id"] for j in slurm.jobs()} == {held}, 60)


USE = """
import sys, time
from localslurm import temporary
with temporary() as slurm:
    slurm.submit("sleep 600")
    while not any(job["job_state"] == "RUNNING" for job in slurm.jobs()):
        time.sleep(0.1)
    print(slurm.directory, flush=True)
    time.sleep(600)
"""


def test_a_killed_test_run_leaves_nothing(slurm: Slurm) -> None:
    path = os.pathsep.join(sys.path)
    user = subprocess.Popen(
        (sys.executable, "-c", USE),
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert user.stdout
    try:
        directory = Path(user.stdout.readline().strip())
        assert running_in(directory)
    finally:
        user.kill()
        user.communicate()
    wait_until("nothing", lambda: not directory.exists(), SECONDS)
    assert running_in(directory) == []
    assert all(slurm.running()[name] for name in ("munged", "slurmctld", "n1"))


def running_in(directory: Path) -> list[str]:
    """The commands of all that runs there, found by another way than the one that ends them."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
        if str(directory).encode() in text:
            found.append(text.decode(errors="replace").split("\0")[0])
    return found
