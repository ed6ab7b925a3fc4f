"""What git wants of one array, whatever it was rendered by: plain values."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

from converter.slurm.comment import Comment, written


@dataclass(frozen=True, slots=True)
class Submission:
    """One array: a campaign, or a part of one. `part` is 0 where the campaign is not split.

    `files` are those of its directory, by their names there. `arguments` are sbatch's, without
    those that say which array it is (name, comment, tasks, gate). `volumes` are the ids by index,
    `window` how many tasks run at once.
    """

    name: str
    campaign: str
    part: int
    repository: str
    pipeline: str
    priority: str
    files: Mapping[str, str]
    arguments: tuple[str, ...]
    volumes: tuple[str, ...]
    window: int
    volumes_sha256: str
    inputs_sha256: str
    suspended: bool = False

    @property
    def digest(self) -> str:
        """What is submitted, in a word: two submissions of the same work have the same."""
        both = f"{self.volumes_sha256} {self.inputs_sha256}"
        return hashlib.sha256(both.encode()).hexdigest()[:16]

    def comment(self, commit: str) -> str:
        """What its comment says in Slurm. Raises CommentTooLong."""
        return written(
            Comment(
                campaign=self.campaign,
                part=self.part,
                commit=commit,
                digest=self.digest,
                repository=self.repository,
                paused=self.suspended,
            )
        )

    def sbatch(self, directory: str, commit: str) -> tuple[str, ...]:
        """All words of the command. The gate is shut: what is submitted does not start by itself.

        `directory` is the array's own on the Slurm host.
        """
        return (
            "sbatch",
            "--parsable",
            "--hold",
            f"--job-name={self.name}",
            f"--comment={self.comment(commit)}",
            f"--array=0-{len(self.volumes) - 1}%{self.window}",
            f"--chdir={directory}",
            *self.arguments,
            f"{directory}/task.sh",
        )
