"""The directory of one job array on the file system that the Slurm host and all nodes share.

``<directory>/campaigns/<repository>/<job>/`` holds what is rendered, and what the tasks write.
"""

import hashlib
import re
from typing import Final

# What is rendered. Of the last there is none where no volume has an environment of its own.
TASK_SCRIPT: Final = "task.sh"
VOLUMES: Final = "volumes.txt"
ENVIRONMENT: Final = "environment"
COMMAND: Final = "command"
LIMITS: Final = "limits"
STEPS: Final = "pipeline.yaml"
SBATCH: Final = "sbatch"
VOLUME_ENVIRONMENT: Final = "volume-env"
RENDERED: Final = (
    TASK_SCRIPT,
    VOLUMES,
    ENVIRONMENT,
    COMMAND,
    LIMITS,
    STEPS,
    SBATCH,
    VOLUME_ENVIRONMENT,
)

# Directories that must be there before the first task: ``results/<index>`` is how a volume ended,
# ``failures/<index>.<n>`` one failed try, each of one line: exit code, number of the try, and when
# it ended. ``logs/<index>.log`` is what its tries wrote.
RESULTS: Final = "results"
FAILURES: Final = "failures"
LOGS: Final = "logs"
WRITTEN: Final = (RESULTS, FAILURES, LOGS)

# Files that say by being there that tasks shall wait, or that none shall run any more.
PAUSED: Final = "paused"
CANCELLED: Final = "cancelled"

CAMPAIGNS: Final = "campaigns"
_UNFIT: Final = re.compile(r"[^A-Za-z0-9._-]+")
_KEPT: Final = 40
_DIGITS: Final = 12


def repository_key(repository: str) -> str:
    """The name of a repository as part of a path: its end for people, and a hash that tells it
    from every other."""
    readable = _UNFIT.sub("-", repository)[-_KEPT:].strip("-.")
    number = hashlib.sha256(repository.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    return f"{readable}-{number}" if readable else number


def state_file(directory: str, repository: str, job: str) -> str:
    """Where it is kept what an apply has done about a job array."""
    return f"{directory}/state/{repository_key(repository)}/{job}.json"


def job_directory(directory: str, repository: str, job: str) -> str:
    """Where the files of a job array are; `directory` is that of converter.yaml."""
    return f"{directory}/{CAMPAIGNS}/{repository_key(repository)}/{job}"
