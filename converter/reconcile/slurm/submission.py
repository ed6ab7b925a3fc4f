"""What git wants of one array: plain values, made of what was rendered."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from converter.render.slurm import JobArray
from converter.slurm.comment import Comment, written
from converter.slurm.layout import TASK_SCRIPT, VOLUMES, repository_key
from converter.volumes import parse_volumes

# Of the digest in a job's comment: enough to tell one submission of a campaign from another.
_DIGITS: Final = 16


@dataclass(frozen=True, slots=True)
class Submission:
    """One array: a campaign, or a part of one. `part` is 0 where the campaign is not split.

    `files` are those of its directory, by their names there. `arguments` are sbatch's, without the
    comment and the script: they shut its gate. `volumes` are the ids by index, `window` is how many
    tasks run at once.
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
        return self.inputs_sha256[:_DIGITS]

    def comment(self, commit: str) -> str:
        """What its comment says in Slurm. Raises CommentTooLong."""
        return written(
            Comment(
                campaign=self.campaign,
                part=self.part,
                commit=commit,
                digest=self.digest,
                repository=repository_key(self.repository),
                paused=self.suspended,
            )
        )

    def sbatch(self, directory: str, commit: str) -> tuple[str, ...]:
        """All words of the command; `directory` is the array's own on the Slurm host."""
        comment = f"--comment={self.comment(commit)}"
        return ("sbatch", *self.arguments, comment, f"{directory}/{TASK_SCRIPT}", directory)


def submissions(arrays: Iterable[JobArray], priorities: Mapping[str, str]) -> list[Submission]:
    """What was rendered, as it is submitted; `priorities` are those of the campaigns."""
    return [
        Submission(
            name=array.job,
            campaign=array.campaign,
            part=array.part,
            repository=array.repository,
            pipeline=array.pipeline,
            priority=priorities.get(array.campaign, ""),
            files=array.files,
            arguments=array.arguments,
            volumes=tuple(volume for volume, _ in parse_volumes(array.files[VOLUMES])),
            window=array.window,
            volumes_sha256=array.volumes,
            inputs_sha256=array.inputs,
            suspended=array.suspended,
        )
        for array in arrays
    ]
