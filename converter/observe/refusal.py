"""Why an apply would not send a campaign as git has it."""

from dataclasses import dataclass
from enum import StrEnum


class By(StrEnum):
    """Who does not want it, as a sentence begins."""

    APPLY = "apply holds it back"
    API_SERVER = "the API server refuses it"


@dataclass(frozen=True, slots=True)
class Refusal:
    """`why` is what apply, or the API server, says of it."""

    by: By
    why: str

    def __str__(self) -> str:
        return f"{self.by}: {self.why}"
