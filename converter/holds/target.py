"""What a hold is asked for: a campaign with all its parts, or one object."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from converter.cluster.objects import Object, name
from converter.holds.errors import InvalidCall
from converter.names import DNS_LABEL, DNS_SUBDOMAIN, PART_SUFFIX

# By the word before the slash.
KINDS: Final = {"job": "Job", "trainjob": "TrainJob", "workload": "Workload"}
LONGEST_REASON: Final = 500
LONGEST_NAME: Final = 200

_NUMBER: Final = re.compile(r"[0-9]+\Z")


@dataclass(frozen=True, slots=True)
class Target:
    """A campaign where `kind` is empty, else an object: Job, TrainJob or Workload."""

    kind: str
    name: str

    def __str__(self) -> str:
        """As it is typed."""
        return f"{self.kind.lower()}/{self.name}" if self.kind else self.name


def target_of(text: str) -> Target:
    """Read a target: ``letters``, ``job/letters-part2``, ``trainjob/tune``, ``workload/job-a1b2``.

    Raises InvalidCall.
    """
    word, slash, named = text.partition("/")
    if not slash:
        if not DNS_LABEL.match(text):
            raise InvalidCall(f"{text!r} is no name of a campaign: {_FORMS}")
        return Target("", text)
    kind = KINDS.get(word.lower())
    if kind is None:
        raise InvalidCall(f"{text!r} is no target: {_FORMS}")
    if len(named) > 253 or not DNS_SUBDOMAIN.match(named):
        raise InvalidCall(f"{text!r} has no name that an object can have: {_FORMS}")
    return Target(kind, named)


_FORMS: Final = "write a campaign's name, job/NAME, trainjob/NAME or workload/NAME"


def part_number(job: str) -> int:
    """The number of a campaign's part, by the name of its Job; 0 of one that is not split."""
    split = PART_SUFFIX.search(job)
    number = _NUMBER.search(job) if split else None
    return int(number[0]) if number else 0


def in_order(jobs: Iterable[Object]) -> list[Object]:
    """The Jobs of a campaign by the number of their part."""
    return sorted(jobs, key=lambda job: (part_number(name(job)), name(job)))


def checked_text(what: str, text: str, longest: int) -> str:
    """A text for an annotation and an Event: one line that can be read, and not long.

    Raises InvalidCall.
    """
    strange = next((each for each in text if not each.isprintable()), "")
    if strange:
        raise InvalidCall(f"{what} has the character U+{ord(strange):04X}: write one line of text")
    if len(text) > longest:
        raise InvalidCall(f"{what} has {len(text)} characters: write {longest} or fewer")
    return text
