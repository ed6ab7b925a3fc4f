"""One reason for what a campaign does, in words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """Why, and what to change where.

    `code` is a stable name of the kind of cause, for machines. `what` is one line that names the
    cause with the cluster's own words and numbers, and `example` the first of what it counts.
    `remedy` says what to change and in which file, or who can, and is empty where there is nothing
    to do but wait. `details` are more lines, such as a flavor's numbers each.
    """

    code: str
    what: str
    remedy: str = ""
    details: tuple[str, ...] = ()
    example: str = ""

    @property
    def sentence(self) -> str:
        """What it is, with its example."""
        return f"{self.what}, first {self.example}" if self.example else self.what

    @property
    def line(self) -> str:
        """Both in one line."""
        return f"{self.sentence}: {self.remedy}" if self.remedy else self.sentence
