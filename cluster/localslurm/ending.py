"""The end of a Slurm, of which its directory is all that has to be known."""

from __future__ import annotations

from localcluster import process
from localcluster.sshd import NAME as SSHD
from localcluster.supervisor import Supervisor

from localslurm.config import CONTROLLER, Files


def supervisor_of(files: Files) -> Supervisor:
    """The processes of a Slurm."""
    return Supervisor(files.directory, files.run, files.logs)


def end(files: Files) -> None:
    """End every daemon, every job and every session by ssh."""
    supervisor = supervisor_of(files)
    for name in (SSHD, CONTROLLER):
        supervisor.stop(name)
    # A slurmd that is asked to end waits for what runs on its node.
    for record in files.run.glob("*.json"):
        supervisor.kill(record.stem)
    process.kill(process.with_variable("SLURM_CONF", str(files.daemon_conf)))
    process.kill(process.marked_with(files.directory))
