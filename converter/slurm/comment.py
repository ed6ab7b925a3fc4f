"""What a job's comment says in Slurm: which campaign it is, and which hold was placed on it.

One word of printable ASCII without blanks, quotes or backslashes, so that neither a shell nor the
``key=value`` listings of scontrol and squeue change it::

    gitops-campaigns/1,campaign=letters,part=2,commit=0a1b,digest=c2d3,hold=7,submit=1796134596,
    restarts=0,at=2026-12-01T14:19:37Z,by=ops,reason=a%20lost%20node,sum=5d41402a

Values are percent-encoded. `sum` is over all that is before it: a comment that was cut or edited
is not one of ours.
"""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from converter.slurm.errors import CommentTooLong
from converter.slurm.times import LEAST, MOST

LONGEST: Final = 1000

_MAGIC: Final = "gitops-campaigns/1"
_SUM: Final = ",sum="
_SUM_LENGTH: Final = 8
_PAIR: Final = re.compile(r"(?P<key>[a-z]+)=(?P<value>[A-Za-z0-9_.~:%-]*)")
_NUMBER: Final = re.compile(r"0|[1-9][0-9]{0,18}")
_MORE: Final = "…"


@dataclass(frozen=True, slots=True)
class Placing:
    """A hold, and the job as it was when it was placed: the hold counts while both stand.

    `submit` is the job's submit time as an epoch, `restarts` how often it was requeued. `at` is
    RFC 3339 in UTC.
    """

    instance: int
    submit: int
    restarts: int
    at: str = ""
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Comment:
    """What the comment of a job says.

    `part` is 0 for a campaign that is not split. `digest` is the start of the sha256 of what was
    submitted, `paused` says that git pauses it. A job of no campaign has nothing but a hold.
    """

    campaign: str = ""
    part: int = 0
    commit: str = ""
    digest: str = ""
    repository: str = ""
    paused: bool = False
    placing: Placing | None = None


def written(comment: Comment) -> str:
    """The text for Slurm, at most LONGEST characters; a long reason or name is cut, with a mark.

    Raises CommentTooLong where what says whose the job is does not fit.
    """
    placing = comment.placing
    reason, by = (placing.reason, placing.by) if placing is not None else ("", "")
    shortest = _text(comment, "", "")
    if len(shortest) > LONGEST:
        raise CommentTooLong(
            f"the comment of a job of {comment.campaign} would have {len(shortest)} characters of "
            f"{LONGEST}: give the repository a shorter name in converter.yaml"
        )
    # Who holds it is worth more than why.
    by = _cut(by, LONGEST - len(_text(comment, "", "")))
    reason = _cut(reason, LONGEST - len(_text(comment, by, "")))
    return _text(comment, by, reason)


def comment_of(text: str) -> Comment | None:
    """What a comment says; None where it is not one of ours, or not whole."""
    body, found, stated = text.rpartition(_SUM)
    if not found or stated != _sum(body):
        return None
    magic, *pairs = body.split(",")
    matched = [_PAIR.fullmatch(pair) for pair in pairs]
    if magic != _MAGIC or None in matched:
        return None
    said = {pair["key"]: unquote(pair["value"]) for pair in matched if pair is not None}
    return _comment(said) if len(said) == len(pairs) else None


def is_foreign(text: str) -> bool:
    """Whether somebody else has written a comment, which is not to be overwritten."""
    return bool(text.strip()) and comment_of(text) is None


def _text(comment: Comment, by: str, reason: str) -> str:
    pairs: list[tuple[str, str]] = [
        ("campaign", comment.campaign),
        ("part", str(comment.part or "")),
        ("commit", comment.commit),
        ("digest", comment.digest),
        ("repository", comment.repository),
        ("paused", "1" if comment.paused else ""),
    ]
    placing = comment.placing
    if placing is not None:
        pairs += [
            ("hold", str(placing.instance)),
            ("submit", str(placing.submit)),
            ("restarts", str(placing.restarts)),
            ("at", placing.at),
            ("by", by),
            ("reason", reason),
        ]
    body = ",".join([_MAGIC, *(f"{key}={_quoted(value)}" for key, value in pairs if value)])
    return f"{body}{_SUM}{_sum(body)}"


def _quoted(value: str) -> str:
    return quote(value, safe=":", errors="replace")


def _sum(body: str) -> str:
    return hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:_SUM_LENGTH]


def _cut(value: str, room: int) -> str:
    """The start of a value that takes at most so many characters with its key, quoted."""
    room -= len(",reason=")
    if len(_quoted(value)) <= room:
        return value
    kept, used = "", len(_quoted(_MORE))
    for character in value:
        used += len(_quoted(character))
        if used > room:
            break
        kept += character
    return kept + _MORE if room >= len(_quoted(_MORE)) else ""


def _comment(said: Mapping[str, str]) -> Comment | None:
    part = _number(said.get("part", "0"))
    placing = _placing(said) if "hold" in said else None
    if part is None or ("hold" in said and placing is None):
        return None
    return Comment(
        campaign=said.get("campaign", ""),
        part=part,
        commit=said.get("commit", ""),
        digest=said.get("digest", ""),
        repository=said.get("repository", ""),
        paused="paused" in said,
        placing=placing,
    )


def _placing(said: Mapping[str, str]) -> Placing | None:
    instance = _number(said["hold"])
    submit = _number(said.get("submit", ""))
    restarts = _number(said.get("restarts", ""))
    if instance is None or submit is None or restarts is None or not LEAST <= instance <= MOST:
        return None
    return Placing(
        instance,
        submit,
        restarts,
        at=said.get("at", ""),
        by=said.get("by", ""),
        reason=said.get("reason", ""),
    )


def _number(text: str) -> int | None:
    return int(text) if _NUMBER.fullmatch(text) else None
