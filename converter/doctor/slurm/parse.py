"""What scripts and Slurm's tools print, as facts. Pure; tried on 22.05, and read so that what a
later release adds does no harm.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from converter.doctor.slurm.facts import Ended, FileFacts, HostFacts, Node, Partition, SlurmFacts
from converter.reconcile.queue_chain import Unknown
from converter.slurm.config import settings_of
from converter.wording import said

_MARK: Final = re.compile(r"^==([a-z]+)==$", re.MULTILINE)
_CODE: Final = re.compile(r"^==code ([0-9]+)==$", re.MULTILINE)
_PAIR: Final = re.compile(r"(?:^|(?<= ))([A-Za-z]+)=(\S*)")
_AS_OF: Final = re.compile(r"^Configuration data as of ([0-9]+)$", re.MULTILINE)
_ADMIN: Final = re.compile(r"^UserName=.* AdminLevel=(\w+)", re.MULTILINE)
_TIME: Final = re.compile(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?")
_GRES: Final = re.compile(r"gpu(?::[^:,()]+)?:(\d+)(?:\([^)]*\))?")
_LIMITS: Final = re.compile(
    r"^\./([a-z0-9-]+)/limits:backoff_limit_per_index=([0-9]+)$", re.MULTILINE
)
_NO_LIMIT: Final = ("UNLIMITED", "INFINITE", "NONE", "N/A", "")
# As scontrol has them, beside or instead of a state. What is powered down is woken for a job.
_NOT_UP: Final = frozenset(
    (
        *("DOWN", "DRAIN", "FAIL", "FAILING", "UNKNOWN", "ERROR", "INVAL", "INVALID_REG"),
        *("FUTURE", "NOT_RESPONDING"),
    )
)
_FLAGS: Final = "~#!%$@^-"


def host_facts(out: str, label: str, before: float, after: float, *, by_ssh: bool) -> HostFacts:
    """What doctor-host.sh printed; it ran between two moments of our clock, both epochs."""
    noise, found = _sections(out)
    clock = found.get("clock", "")
    uid = found.get("uid", "")
    return HostFacts(
        label=label,
        by_ssh=by_ssh,
        noise=said(noise, 80),
        skew=_skew(int(clock), before, after) if clock.isdecimal() else 0.0,
        name=found.get("name", ""),
        user=found.get("user", ""),
        uid=int(uid) if uid.isdecimal() else None,
        missing=tuple(found.get("missing", "").split()),
    )


def file_facts(out: str) -> FileFacts | Unknown:
    """What doctor-files.sh printed."""
    _, found = _sections(out)
    if "limits" not in found:
        return Unknown(f"the shared directory could not be looked at: {said(out, 120)}")
    return FileFacts(
        kind=found["directory"],
        nearest=found["nearest"],
        unwritable=tuple(found["unwritable"].splitlines()),
        unreadable=tuple(found["unreadable"].splitlines()),
        unheld=found["unheld"],
        mount=found["mount"],
        free_kib=_free(found["space"]),
        free_inodes=_free(found["inodes"]),
        lock=_ended(found["lock"]),
        applying=_ended(found["apply"]),
        holder=found["holder"],
        applied=found["applied"],
        tries_again={name: int(number) for name, number in _LIMITS.findall(found["limits"])},
    )


def slurm_facts(out: str) -> SlurmFacts | Unknown:
    """What doctor-slurm.sh printed."""
    _, found = _sections(out)
    if "ping" not in found:
        return Unknown(f"Slurm's tools could not be run: {said(out, 120)}")
    _, _, trials = out.partition("==trial==\n")
    answers = {name: _answer(found.get(name, "")) for name in ("config", "partitions", "nodes")}
    texts = {name: each for name, each in answers.items() if isinstance(each, str)}
    unread = {name: each for name, each in answers.items() if isinstance(each, Unknown)}
    config = texts.get("config", "")
    at = _AS_OF.search(config)
    counted = _answer(found.get("tasks", ""))
    level = _ADMIN.search(found.get("rights", ""))
    return SlurmFacts(
        ping=said(found["ping"]),
        config=unread.get("config") or settings_of(config),
        partitions=unread.get("partitions") or tuple(_partitions(texts.get("partitions", ""))),
        nodes=unread.get("nodes") or tuple(_nodes(texts.get("nodes", ""))),
        tasks=counted if isinstance(counted, Unknown) else len(counted.splitlines()),
        admin_level=level[1] if level else "",
        asked_at=int(at[1]) if at else None,
        host_epoch=_limit(found.get("clock", "")),
        trials=tuple(_trial(each) for each in trials.split("==trial==\n") if each.strip()),
    )


def minutes_of(text: str) -> int | None:
    """A limit of time as Slurm writes it (``1-02:00:00``, ``30:00``, ``30``), None for no limit."""
    if text.upper() in _NO_LIMIT:
        return None
    found = _TIME.fullmatch(text)
    if found is None:
        return None
    days, *parts = found.groups()
    numbers = [int(part) for part in parts if part is not None]
    if days is not None or len(numbers) == 3:
        hours, minutes, _ = (*numbers, 0, 0)[:3]
        return (int(days or 0) * 24 + hours) * 60 + minutes
    return numbers[0]


def gpus_of(gres: str) -> int:
    """How many GPUs a node's ``Gres`` says: ``gpu:a100:4(S:0-1),gpu:2``."""
    return sum(int(number) for number in _GRES.findall(gres))


def takes_jobs(state: str) -> bool:
    """Whether a node in this state of ``scontrol show node`` takes jobs, now or when woken."""
    words = {word.rstrip(_FLAGS) for word in state.upper().split("+")}
    return not any(word.endswith("*") or word in _NOT_UP for word in words)


def _sections(out: str) -> tuple[str, Mapping[str, str]]:
    """What stands before the first mark, and what stands after each; the first of a name counts."""
    first, *rest = _MARK.split(out)
    found: dict[str, str] = {}
    for name, text in zip(rest[::2], rest[1::2], strict=True):
        found.setdefault(name, text.strip())
    return first.strip(), found


def _answer(text: str) -> str | Unknown:
    answer, code, _ = _CODE.split(text, maxsplit=1) if _CODE.search(text) else (text, "", "")
    if code == "0":
        return answer
    return Unknown(said(answer, 120) or "it was not asked")


def _trial(text: str) -> Ended:
    found = _CODE.search(text)
    if found is None:
        return Ended(1, "it was not asked")
    lines = [line.strip() for line in text[: found.start()].splitlines() if line.strip()]
    return Ended(int(found[1]), said(lines[-1]) if lines else "")


def _ended(text: str) -> Ended:
    rest, _, code = text.rpartition("code ")
    return Ended(int(code) if code.isdecimal() else 1, said(rest))


def _free(line: str) -> int | None:
    """The fourth column of df; some file systems have no number of inodes."""
    columns = line.split()
    if len(columns) < 6 or not (columns[1].isdecimal() and columns[3].isdecimal()):
        return None
    return int(columns[3]) if int(columns[1]) else None


def _skew(epoch: int, before: float, after: float) -> float:
    """By how much a clock is ahead at least; it was read in whole seconds between the two."""
    if epoch > after:
        return epoch - after
    return min(0.0, epoch + 1 - before)


def _pairs(line: str) -> Mapping[str, str]:
    """``key=value`` with blanks between; what people write has blanks of its own and comes late."""
    found: dict[str, str] = {}
    for key, value in _PAIR.findall(line):
        found.setdefault(key, value)
    return found


def _partitions(text: str) -> Iterator[Partition]:
    for line in text.splitlines():
        found = _pairs(line)
        if "PartitionName" in found:
            yield Partition(
                found["PartitionName"],
                found.get("State", ""),
                found.get("Default") == "YES",
                minutes_of(found.get("MaxTime", "")),
                _limit(found.get("MaxCPUsPerNode", "")),
                _limit(found.get("MaxMemPerNode", "")),
            )


def _nodes(text: str) -> Iterator[Node]:
    for line in text.splitlines():
        found = _pairs(line)
        if "NodeName" in found:
            yield Node(
                found["NodeName"],
                _limit(found.get("CPUEfctv", "")) or _limit(found.get("CPUTot", "")) or 0,
                (_limit(found.get("RealMemory", "")) or 0)
                - (_limit(found.get("MemSpecLimit", "")) or 0),
                gpus_of(found.get("Gres", "")),
                frozenset(found.get("AvailableFeatures", "").split(",")) - {"", "(null)"},
                frozenset(found.get("Partitions", "").split(",")) - {""},
                takes_jobs(found.get("State", "")),
            )


def _limit(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
