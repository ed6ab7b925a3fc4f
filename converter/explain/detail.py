"""All about one campaign: volumes that failed or are tried again, conditions and events. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from converter.cluster.objects import Object, index_ranges, job_end, name
from converter.cluster.resources import EVENTS
from converter.errors import ApiError, ClusterUnavailable
from converter.explain.facts import Facts, Part
from converter.explain.failed_pods import failures
from converter.explain.reading import why_unread
from converter.wording import said

if TYPE_CHECKING:
    from converter.cluster.client import Client

# The newest; a Job of thousands of pods has one for each.
_EVENTS: Final = 20


@dataclass(frozen=True, slots=True)
class VolumeTrouble:
    """A volume that failed, `is_final` for good. `tries` counts its failed pods, 0 where unknown.

    `volume` is its id, empty where git no longer says which it is; `index` is its index in `job`,
    None where only a record is left. `how` is how the last pod ended, `message` its last words.
    """

    volume: str
    job: str
    index: int | None
    is_final: bool
    tries: int = 0
    how: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition of `about` (``Kind/name``). `since` is RFC 3339."""

    about: str
    type: str
    status: str
    since: str
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Event:
    """What a controller said of `about` (``Kind/name``), `count` times; `time` is the last."""

    about: str
    type: str
    reason: str
    message: str
    count: int
    time: str


@dataclass(frozen=True, slots=True)
class Detail:
    """Volumes in the order of their parts and indexes, events newest last."""

    volumes: tuple[VolumeTrouble, ...] = ()
    conditions: tuple[Condition, ...] = ()
    events: tuple[Event, ...] = ()
    unread: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "volumes": [asdict(volume) for volume in self.volumes],
            "conditions": [asdict(condition) for condition in self.conditions],
            "events": [asdict(event) for event in self.events],
        }


def read_detail(client: "Client", facts: Facts) -> Detail:
    """The detail of a campaign, with the events of its Jobs and Workloads read for it.

    Events that may not be read are named in `unread`.
    """
    found: list[Object] = []
    unread: list[str] = []
    for each in (*facts.jobs, *facts.workloads):
        try:
            selected = f"involvedObject.name={name(each)}"
            found.extend(client.list(EVENTS, facts.settings.namespace, fields=selected))
        except (ApiError, ClusterUnavailable) as error:
            unread.append(f"events: {why_unread(error)}")
            break
    return Detail(
        volumes=tuple(_volumes(facts)),
        conditions=tuple(_conditions((*facts.jobs, *facts.workloads))),
        events=events_of(found),
        unread=tuple(unread),
    )


def events_of(found: Iterable[Object]) -> tuple[Event, ...]:
    """The newest of what was said, oldest first."""
    return tuple(sorted(map(_event, found), key=lambda event: event.time)[-_EVENTS:])


def _volumes(facts: Facts) -> Iterator[VolumeTrouble]:
    parts = facts.parts()
    for part in parts:
        yield from _of_part(part)
    there = {part.name for part in parts}
    for job, record in facts.records.items():
        if job not in there:
            for volume in record.failed_volumes:
                yield VolumeTrouble(volume, job, None, is_final=True)


def _of_part(part: Part) -> Iterator[VolumeTrouble]:
    state = part.job.get("status") or {}
    done = set(index_ranges(state.get("completedIndexes") or ""))
    lost = set(index_ranges(state.get("failedIndexes") or ""))
    if job_end(part.job) is not None:
        lost = set(range(part.status.total)) - done
    found = failures(part.pods)
    ids = part.facts.volume_ids(part.job)
    for index in sorted(lost | (found.keys() - done)):
        volume = ids[index] if index < len(ids) else ""
        failure = found.get(index)
        if failure is None:
            yield VolumeTrouble(volume, part.name, index, index in lost)
            continue
        yield VolumeTrouble(
            volume, part.name, index, index in lost, failure.tries, failure.how, failure.message
        )


def _conditions(objects: Sequence[Object]) -> Iterator[Condition]:
    for each in objects:
        kind = each.get("kind") or ("Job" if "template" in each["spec"] else "Workload")
        for condition in (each.get("status") or {}).get("conditions") or ():
            yield Condition(
                about=f"{kind}/{name(each)}",
                type=said(condition.get("type")),
                status=said(condition.get("status")),
                since=said(condition.get("lastTransitionTime")),
                reason=said(condition.get("reason")),
                message=said(condition.get("message")),
            )


def _event(event: Object) -> Event:
    about = event.get("involvedObject") or {}
    series = event.get("series") or {}
    return Event(
        about=f"{said(about.get('kind'))}/{said(about.get('name'))}",
        type=said(event.get("type")),
        reason=said(event.get("reason")),
        message=said(event.get("message")),
        count=int(series.get("count") or event.get("count") or 1),
        time=said(event.get("lastTimestamp") or event.get("eventTime")),
    )
