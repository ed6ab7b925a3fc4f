"""All that an apply and a status look at, read in one call: the state, Slurm's jobs, results."""

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from converter.slurm.comment import comment_of
from converter.slurm.config import settings_of
from converter.slurm.errors import SlurmUnavailable
from converter.slurm.host import NO_DIRECTORY, Host
from converter.slurm.job import Job, Phase
from converter.slurm.layout import repository_key
from converter.slurm.squeue import parse_jobs
from converter.slurm.state import State, Step, UnreadableState, state_of

_MARKS: Final = (
    "==slurm==\n",
    "==state==\n",
    "==elsewhere==\n",
    "==squeue==\n",
    "==results==\n",
)
# NAME/results/INDEX:CODE ATTEMPT TIME, and NAME/failures/INDEX.N:CODE ATTEMPT TIME
_RESULT: Final = re.compile(
    r"(?P<name>[a-z0-9-]+)/(?:results/(?P<index>[0-9]{1,7})|failures/(?P<failed>[0-9]{1,7})\.[0-9]+)"
    r":(?P<code>[0-9]{1,3}) (?P<attempt>[0-9]{1,9}) (?P<at>[0-9TZ:-]+)"
)
# NAME/MARK
_DIRECTORY_MARKS: Final = ("there", "paused", "cancelled", "ended", "begun")
_MARK: Final = re.compile(rf"(?P<name>[a-z0-9-]+)/(?P<mark>{'|'.join(_DIRECTORY_MARKS)})")
# ./NAME.json:LINE
_KEPT: Final = re.compile(r"\./(?P<name>[a-z0-9-]+)\.json:(?P<line>.*)")


@dataclass(frozen=True, slots=True)
class Result:
    """How a task ended, after which try: `code` is its exit code, `at` RFC 3339 in UTC."""

    code: int
    attempt: int
    at: str


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is of one repository, by the names of its arrays.

    `jobs` are Slurm's records of each, `results` what its tasks have written, by index.
    `unreadable` names the files of the state that cannot be read. `host_epoch` is the host's clock.
    `others` are the jobs of others that wait, as far as Slurm shows them. `ended` are arrays whose
    directory says that they have ended, `marked` those whose directory tells tasks not to begin,
    `cancelled` those whose directory tells them that they are to end, `homeless` those whose
    directory is not there, and `begun` those of which a task has opened its log.
    `directory` is where it was looked, `cluster` and `user` which Slurm was asked and by whom, and
    `is_private` whether it shows nobody but operators the jobs of others. `elsewhere` are arrays
    that were applied there under other names of a repository, as far as they could be read.
    `failures` has the last failed try of each volume that has one, as `results` the last of all.
    """

    host_epoch: int
    states: Mapping[str, State]
    jobs: Mapping[str, Sequence[Job]]
    results: Mapping[str, Mapping[int, Result]]
    unreadable: Sequence[str] = ()
    others: Sequence[Job] = ()
    ended: Set[str] = frozenset()
    marked: Set[str] = frozenset()
    cancelled: Set[str] = frozenset()
    homeless: Set[str] = frozenset()
    begun: Set[str] = frozenset()
    directory: str = ""
    cluster: str = ""
    user: str = ""
    is_private: bool = False
    elsewhere: Sequence[State] = ()
    failures: Mapping[str, Mapping[int, Result]] = field(default_factory=dict)


_Ends = dict[str, dict[int, Result]]


def survey(host: Host, directory: str, repository: str, *, seconds: float) -> Survey:
    """Look.

    Raises SlurmUnavailable where any of it could not be read, and where there is no directory.
    """
    found = _look(host, directory, repository, (), seconds)
    # What is kept may be older than what the directory says: somebody has put a copy of it back.
    unread = [name for name in sorted(found.ended) if _may_end_anew(name, found)]
    return _look(host, directory, repository, unread, seconds) if unread else found


def _may_end_anew(name: str, found: Survey) -> bool:
    state = found.states.get(name)
    return bool(found.jobs.get(name)) if state is None else state.step is not Step.ENDED


def _look(
    host: Host, directory: str, repository: str, anyway: Iterable[str], seconds: float
) -> Survey:
    """`anyway` are arrays whose results count even if their directory says that they have ended."""
    names = "".join(f"{name}\n" for name in anyway).encode("ascii")
    answer = host.run(
        "survey.sh", directory, repository_key(repository), seconds=seconds, data=names
    )
    if answer.code == NO_DIRECTORY:
        raise SlurmUnavailable(f"{host}: {answer.reason}")
    texts = []
    rest = answer.out
    for mark in _MARKS:
        # A line of its own: names and values may have the same words in them.
        text, found, rest = f"\n{rest}".partition(f"\n{mark}")
        if not found:
            raise SlurmUnavailable(f"{host} did not run the look: {answer.reason}")
        texts.append(text.removeprefix("\n"))
    clock, asked, lines, others_lines, listed = texts
    if answer.code:
        raise SlurmUnavailable(f"{host} did not come to the end of the look: {answer.reason}")
    if not clock.strip().isdecimal():
        raise SlurmUnavailable(f"{host} tells no time: {clock.strip()!r}")
    user, cluster, is_private = _slurm(asked, host)
    states, unreadable = _states(lines.splitlines(), repository)
    known = parse_jobs(listed)
    jobs = _by_name(known, repository, states.values())
    ours = {job.job_id for found in jobs.values() for job in found}
    others = [job for job in known if job.phase is Phase.PENDING and job.job_id not in ours]
    written = rest.splitlines()
    marks = _marks(written)
    results, failures = _results(written)
    return Survey(
        host_epoch=int(clock),
        states=states,
        jobs=jobs,
        results=results,
        failures=failures,
        unreadable=unreadable,
        others=others,
        ended=marks["ended"],
        marked=marks["paused"],
        cancelled=marks["cancelled"],
        begun=marks["begun"],
        homeless={*states, *jobs}.difference(marks["there"], marks["ended"]),
        directory=directory,
        cluster=cluster,
        user=user,
        is_private=is_private,
        elsewhere=_elsewhere(others_lines.splitlines()),
    )


def _slurm(text: str, host: Host) -> tuple[str, str, bool]:
    """Who asks, the name of the cluster, and whether jobs are shown to their owners alone.

    Raises SlurmUnavailable where the controller does not say.
    """
    user, _, config = text.partition("\n")
    settings = settings_of(config)
    if not settings.get("ClusterName"):
        raise SlurmUnavailable(f"scontrol show config on {host} names no cluster")
    private = settings.get("PrivateData", "none").split(",")
    return user.strip(), settings["ClusterName"], bool({"jobs", "all"} & set(private))


def _elsewhere(lines: Iterable[str]) -> tuple[State, ...]:
    found = []
    for line in lines:
        with suppress(UnreadableState):
            found.append(state_of(line))
    return tuple(found)


def _states(lines: Iterable[str], repository: str) -> tuple[dict[str, State], tuple[str, ...]]:
    """The states by name, and the files that hold none."""
    files: dict[str, list[str]] = {}
    for line in lines:
        if match := _KEPT.fullmatch(line):
            files.setdefault(match["name"], []).append(match["line"])
    found: dict[str, State] = {}
    unreadable: list[str] = []
    for name, kept in files.items():
        try:
            state = state_of("\n".join(kept))
        except UnreadableState:
            unreadable.append(f"{name}.json")
        else:
            # One of another name is a copy.
            if state.repository == repository and state.name == name:
                found[name] = state
    return found, tuple(sorted(unreadable))


def _marks(lines: Iterable[str]) -> Mapping[str, Set[str]]:
    """The names of arrays by the mark that they have."""
    found: dict[str, set[str]] = {mark: set() for mark in _DIRECTORY_MARKS}
    for line in lines:
        if match := _MARK.fullmatch(line):
            found[match["mark"]].add(match["name"])
    return found


def _by_name(jobs: Iterable[Job], repository: str, states: Iterable[State]) -> dict[str, list[Job]]:
    """Those whose comment says that they are this repository's.

    A number alone proves nothing: a Slurm that has lost jobs gives their numbers again. But of an
    array that has not ended, one that has its number and its name is it, whatever somebody has made
    of the comment; and so is one by another name that has its number, and its campaign and part in
    the comment. Else a live array would count as gone.
    """
    found: dict[str, list[Job]] = {}
    key = repository_key(repository)
    going: dict[int, list[State]] = {}
    for state in states:
        if state.job and state.step is not Step.ENDED:
            going.setdefault(state.job, []).append(state)
    for job in jobs:
        comment = comment_of(job.comment)
        numbered = going.get(job.array_job_id or job.job_id, ())
        if comment is not None and comment.campaign and comment.repository == key:
            whose = (comment.campaign, comment.part)
            same = (state.name for state in numbered if (state.campaign, state.part) == whose)
            found.setdefault(next(same, job.name), []).append(job)
        elif comment is None and any(state.name == job.name for state in numbered):
            found.setdefault(job.name, []).append(job)
    return found


def _results(lines: Iterable[str]) -> tuple[_Ends, _Ends]:
    """How volumes ended, and the last try of each that failed."""
    ends: _Ends = {}
    failures: _Ends = {}
    for line in lines:
        if (match := _RESULT.fullmatch(line)) is None:
            continue
        result = Result(int(match["code"]), int(match["attempt"]), match["at"])
        if match["index"]:
            ends.setdefault(match["name"], {})[int(match["index"])] = result
            continue
        of_name, index = failures.setdefault(match["name"], {}), int(match["failed"])
        if index not in of_name or of_name[index].attempt < result.attempt:
            of_name[index] = result
    return ends, failures
