"""What can be wrong with an answer of Slurm, or with what is to be written to it."""

from converter.errors import CampaignsError, ClusterUnavailable, NoCredentials


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
