"""One reason for what a campaign does, in words."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cause:
    """Why, and what to change where.

    `code` is a stable name of the kind of cause, for machines. `sentence` is one line that names
    the cause with the cluster's own words and numbers; `remedy` says what to change and in which
    file, or who can, and is empty where there is nothing to do but wait. `details` are more lines,
    such as a flavor's numbers each.
    """

    code: str
    sentence: str
    remedy: str = ""
    details: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """Both in one line."""
        return f"{self.sentence}: {self.remedy}" if self.remedy else self.sentence
