"""What can be wrong with an answer of Slurm, or with what is to be written to it."""

from typing import Final

from converter.errors import CampaignsError, ClusterUnavailable, NoCredentials

# What Slurm's tools say where the controller did not answer, after 9 s of trying (22.05.8). All
# else that they complain of is the controller's own answer.
_NO_ANSWER: Final = (
    "Unexpected message received",
    "Unable to contact slurm controller",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "Connection refused",
)


def is_unanswered(complaint: str) -> bool:
    """Whether a tool complains of no answer: what it asked for may come about all the same."""
    return any(each in complaint for each in _NO_ANSWER)


class SlurmUnavailable(ClusterUnavailable):
    """Slurm gave no answer, so nothing is known: least of all that a job is not there."""


class LoginRefused(SlurmUnavailable, NoCredentials):
    """The Slurm host lets nobody in with what ssh has, or is not the one that ssh knows."""


class SlurmUnreadable(SlurmUnavailable):
    """The answer is not what a known release of Slurm writes; nothing may be concluded from it."""


class InvalidTime(CampaignsError):
    """A number that no start time can carry, or a text that is no time."""


class InvalidTasks(CampaignsError):
    """A text that is no list of array tasks."""


class CutTasks(InvalidTasks):
    """A list of array tasks that Slurm has cut short, so that which tasks it has is not known."""


class CommentTooLong(CampaignsError):
    """What a job's comment has to say does not fit into it."""


class SlurmRefused(CampaignsError):
    """Slurm, or its host, would not do what it was asked, or not to all of it.

    `complaint` is all that was said of that, where the message has but its last line.
    """

    def __init__(self, message: str, complaint: str = "") -> None:
        super().__init__(message)
        self.complaint = complaint or message
