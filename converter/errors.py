"""The one tree of exceptions that the package raises on purpose.

A fault in a user's file is a `Problem`, not an exception; `InvalidRepository` carries problems to
the command that reports them. Everything else that a user can meet is a `CampaignsError` whose
text is one sentence. An answer of the API server keeps its status, reason and object.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from converter.problem import Problem


class CampaignsError(Exception):
    """Anything the command reports as one line and an exit code, without a traceback."""


class InvalidRepository(CampaignsError):
    """The repository has problems, which `summary` counts; nothing may be rendered or sent."""

    def __init__(self, problems: Sequence[Problem], summary: str) -> None:
        super().__init__(summary)
        self.problems = tuple(problems)


class Refused(CampaignsError):
    """The command was asked for something that it will not do; nothing was sent."""


class LeaseHeld(CampaignsError):
    """Another apply holds the Lease; nothing was sent."""


class LeaseLost(CampaignsError):
    """The Lease was taken over or could not be renewed; the run stops before its next write."""


class ClusterUnavailable(CampaignsError):
    """No credentials, or no answer from the API server after all retries, or from Slurm."""


class NoCredentials(ClusterUnavailable):
    """What the kubeconfig or the pod has for credentials cannot be used, or not be renewed."""


class CannotPause(CampaignsError):
    """This cluster has no way to pause a campaign, so that nothing of a pause is written."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One entry of ``details.causes`` in an API server's Status."""

    reason: str
    field: str
    message: str


class ApiError(CampaignsError):
    """The API server answered with a failure Status.

    `status` is the HTTP code, `reason` the machine-readable reason (for example ``Conflict``),
    `target` names the object as ``Kind/name``.
    """

    def __init__(
        self,
        verb: str,
        target: str,
        status: int,
        reason: str,
        message: str,
        causes: Sequence[Cause] = (),
    ) -> None:
        super().__init__(f"{verb} {target}: {status} {reason}: {message}")
        self.verb = verb
        self.target = target
        self.status = status
        self.reason = reason
        self.message = message
        self.causes = tuple(causes)


class NotFound(ApiError):
    """404: the object, or its kind, does not exist."""


class Conflict(ApiError):
    """409: the object changed, exists already, or a field belongs to another manager."""


class Forbidden(ApiError):
    """401 or 403: the identity may not do this."""


class Invalid(ApiError):
    """400 or 422: the object is not acceptable, for example an immutable field changed."""
