"""A real Slurm on one machine: its controller, its nodes and MUNGE, with nothing installed."""

from localslurm.config import Options
from localslurm.slurm import Slurm, start, temporary
from localslurm.ssh import SshHost

__all__ = ["Options", "Slurm", "SshHost", "start", "temporary"]
