"""Statuses as metrics, for Prometheus and what else reads OpenMetrics.

https://prometheus.io/docs/specs/om/open_metrics_spec/. Every family is a gauge, the phases and the
information too: so the same text is also valid in Prometheus' older format, which the Pushgateway
and node_exporter's textfile collector read, and which knows neither a StateSet nor an Info.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from converter.observe.document import eta_at
from converter.observe.phase import DRIFTED, Phase
from converter.observe.status import Status
from converter.times import instant

PHASES: Final = (*map(str, Phase), DRIFTED)
STOPPED: Final = (Phase.PAUSING, Phase.PAUSED, Phase.HELD)

Labels = Mapping[str, str]
# The samples of one campaign in one family: further labels, and the value.
Samples = Iterator[tuple[Labels, int]]


@dataclass(frozen=True, slots=True)
class _Family:
    """One metric. `samples` reads a campaign at a time by the API server's clock."""

    name: str
    text: str
    samples: Callable[[Status, datetime], Samples]
    unit: str = ""


def exposition(statuses: Iterable[Status], now: datetime, repository: str) -> str:
    """All metrics of a repository's campaigns, ending in ``# EOF``.

    `now` is the API server's time. What is not known of a campaign is left out, not 0.
    """
    found = list(statuses)
    lines = [line for family in _FAMILIES for line in _family(family, found, now, repository)]
    lines += _head("campaigns_campaigns", "Campaigns of the repository in each phase.")
    counts = Counter(status.shown_phase for status in found)
    for phase in PHASES:
        labels = {"repository": repository, "phase": phase}
        lines.append(_sample("campaigns_campaigns", labels, counts[phase]))
    return "".join(f"{line}\n" for line in (*lines, "# EOF"))


def _phases(status: Status, _now: datetime) -> Samples:
    for phase in PHASES:
        yield {"phase": phase}, int(phase == status.shown_phase)


def _volumes(status: Status, _now: datetime) -> Samples:
    yield {"state": "done"}, status.done
    yield {"state": "failed"}, status.failed
    yield {"state": "left"}, max(status.total - status.done - status.failed, 0)


def _pods(status: Status, _now: datetime) -> Samples:
    yield {}, status.active


def _position(status: Status, _now: datetime) -> Samples:
    if status.place:
        yield {}, status.place.in_cluster_queue


def _paused(status: Status, now: datetime) -> Samples:
    if status.phase in STOPPED and (since := instant(status.since)):
        yield {}, max(round((now - since).total_seconds()), 0)


def _hold_age(status: Status, now: datetime) -> Samples:
    if status.hold and (since := instant(status.hold.at)):
        yield {}, max(round((now - since).total_seconds()), 0)


def _hold_instance(status: Status, _now: datetime) -> Samples:
    if status.hold and status.hold.instance is not None:
        yield {}, status.hold.instance


def _created(status: Status, _now: datetime) -> Samples:
    if created := instant(status.created):
        yield {}, round(created.timestamp())


def _eta(status: Status, now: datetime) -> Samples:
    if eta := eta_at(status, now):
        yield {}, eta.seconds


def _info(status: Status, _now: datetime) -> Samples:
    labels = {
        "pipeline": status.pipeline,
        "priority": status.priority,
        "size": status.size,
        "queue": status.queue,
        "flavor": ",".join(status.admission.flavors),
    }
    yield labels, 1


_FAMILIES: Final = (
    _Family("campaigns_campaign_phase", "1 for the phase that the campaign is in.", _phases),
    _Family("campaigns_campaign_volumes", "Volumes done, failed and left.", _volumes),
    _Family("campaigns_campaign_pods", "Pods that run, start or end.", _pods),
    _Family(
        "campaigns_campaign_queue_position",
        "Place in the ClusterQueue from 1, of what waits there.",
        _position,
    ),
    _Family(
        "campaigns_campaign_paused_seconds",
        "How long ago it was stopped, of what is Pausing, Paused or Held.",
        _paused,
        unit="seconds",
    ),
    _Family(
        "campaigns_campaign_hold_seconds",
        "How long ago the hold that is on it was placed.",
        _hold_age,
        unit="seconds",
    ),
    _Family(
        "campaigns_campaign_hold_instance",
        "The number of the hold that is on it.",
        _hold_instance,
    ),
    _Family(
        "campaigns_campaign_created_timestamp_seconds",
        "When it was started, in Unix time.",
        _created,
        unit="seconds",
    ),
    _Family(
        "campaigns_campaign_eta_seconds",
        "How long it still takes by the rate so far, of what runs.",
        _eta,
        unit="seconds",
    ),
    _Family("campaigns_campaign_info", "What the campaign is made of; always 1.", _info),
)


def _family(
    family: _Family, statuses: Sequence[Status], now: datetime, repository: str
) -> Iterator[str]:
    yield from _head(family.name, family.text, family.unit)
    for status in statuses:
        for labels, value in family.samples(status, now):
            named = {"repository": repository, "campaign": status.name, **labels}
            yield _sample(family.name, named, value)


def _head(name: str, text: str, unit: str = "") -> Iterator[str]:
    yield f"# HELP {name} {text}"
    yield f"# TYPE {name} gauge"
    if unit:
        yield f"# UNIT {name} {unit}"


def _sample(name: str, labels: Labels, value: int) -> str:
    # A label without a value is the same as none.
    listed = ",".join(f'{key}="{_escaped(text)}"' for key, text in labels.items() if text)
    return f"{name}{{{listed}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
