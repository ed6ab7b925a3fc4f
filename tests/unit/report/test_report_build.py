"""What a page says of what was read."""

from __future__ import annotations

from typing import Any

import pytest
from unit.reconcile.queue_objects import chain, cluster_queue, group, local_queue
from unit.report.archive import NOW, Site, archive, at, campaign, condition, queue, repository

from converter.holds.mark import Mark
from converter.observe.phase import Phase
from converter.observe.places import Place
from converter.observe.status import Status
from converter.reconcile.queue_chain import Missing, Unknown
from converter.report.cards import cards as cards_of
from converter.report.cards import shares
from converter.report.model import PHASES, Card, Event, Failures, Model, QueueRow
from converter.report.quotas import quota_of, spelt
from converter.report.times import moment


def cards(model: Model) -> dict[str, Card]:
    return {card.name: card for card in model.cards}


def test_every_phase_is_counted() -> None:
    counts = dict(archive().model().counts)
    assert list(counts) == [str(phase) for phase in PHASES]
    assert min(counts.values()) > 0
    assert sum(counts.values()) == 15


def test_what_needs_somebody_comes_first() -> None:
    assert [card.name for card in archive().model().cards] == [
        *("map-sheets", "parish-registers", "dissertations", "postcards"),
        # It runs, and volumes of it have failed.
        "letters-1890-1914",
        *("manuscripts-latin", "census-1900", "council-minutes"),
        *("court-records", "glass-negatives", "herbarium", "estate-inventories"),
        *("newspapers-1848", "incunabula", "atlases"),
    ]


@pytest.mark.parametrize(
    ("name", "banner"),
    [
        (
            "census-1900",
            (
                "stop",
                "Held: hold 7 of imaging-ops@example.org",
                "2026-03-09 15:00 UTC",
                "2 days ago",
            ),
        ),
        ("council-minutes", ("stop", "Paused", "2026-03-08 09:00 UTC", "4 days ago")),
        (
            "manuscripts-latin",
            ("stop", "To be paused, and not paused yet", "2026-03-12 09:00 UTC", "30 minutes ago"),
        ),
        (
            "dissertations",
            (
                "drift",
                "Not as git has it. On the cluster it is Running",
                "2026-03-08 03:00 UTC",
                "4 days ago",
            ),
        ),
    ],
)
def test_what_is_stopped_or_drifted_says_since_when(name: str, banner: tuple[str, ...]) -> None:
    (found,) = cards(archive().model())[name].banners
    assert found.since is not None
    assert (found.kind, found.text, found.since.text, found.since.ago) == banner


@pytest.mark.parametrize(
    ("phase", "drift", "words"),
    [
        (Phase.HELD, "", ["Held: hold 7 of ops"]),
        (Phase.PAUSING, "", ["Being held: hold 7 of ops"]),
        (Phase.RUNNING, "", ["Not stopped by hold 7 of ops"]),
        (Phase.HELD, "x", ["Not as git has it. On the cluster it is Held", "Held: hold 7 of ops"]),
        (Phase.FINISHED, "", []),
    ],
)
def test_a_hold_has_a_banner_until_the_end(phase: Phase, drift: str, words: list[str]) -> None:
    mark = Mark(7, at="2026-03-09T15:00:00Z", by="ops")
    status = Status("letters", phase, 3, drift=drift, hold=mark)
    (card,) = cards_of([(status, ())], {}, NOW)
    assert [each.text for each in card.banners] == words


def test_failed_volumes_are_put_together_by_what_they_said() -> None:
    found = cards(archive().model())
    assert found["map-sheets"].failures == (
        Failures(
            18,
            "exit 1: FileNotFoundError: /models/layout-v3.safetensors",
            tuple(f"sheet-{number:04}" for number in range(1, 7)),
        ),
    )
    assert found["map-sheets"].failures[0].more == 12
    assert [each.ids for each in found["letters-1890-1914"].failures] == [
        ("letters-0413",),
        ("letters-0416",),
    ]
    assert found["newspapers-1848"].failures == ()


def test_failed_volumes_of_a_job_that_is_gone_are_those_of_its_record() -> None:
    site = Site(repository(campaign("maps", 3)))
    site.record("maps", "PartlyFailed", at(1), at(2), 1, ["maps-0001", "maps-0003"])
    assert cards(site.model())["maps"].failures == (Failures(2, "", ("maps-0001", "maps-0003")),)


def test_failures_of_which_no_pod_is_left_have_a_name_only() -> None:
    site = Site(repository(campaign("maps", 9)))
    lost = [condition("Failed", at(10), reason="FailedIndexes")]
    site.add_running("maps", at(1), at(2), "a100", failedIndexes="0-8", conditions=lost)
    card = cards(site.model())["maps"]
    ids = tuple(f"maps-{number:04}" for number in range(1, 7))
    assert (card.failed, card.failures, card.more_failed) == (9, (Failures(9, "", ids),), 0)


@pytest.mark.parametrize(
    ("done", "failed", "parts"),
    [
        (0, 0, (0.0, 0.0)),
        (5000, 0, (50.0, 0.0)),
        (9999, 1, (99.0, 1.0)),
        (0, 10_000, (0.0, 100.0)),
    ],
)
def test_one_failure_in_ten_thousand_can_be_seen(
    done: int, failed: int, parts: tuple[float, float]
) -> None:
    status = Status("maps", Phase.RUNNING, 10_000, done=done, failed=failed)
    assert shares(status) == parts


def test_the_queue_in_order_with_the_gaps_of_others() -> None:
    assert archive().model().queues[0].rows == (
        QueueRow("1", "court-records", "", "high (1000)"),
        QueueRow("2–3", "", "2 of other queues"),  # noqa: RUF001 - a range
        QueueRow("4", "glass-negatives", "", "0"),
        QueueRow("5–6", "", "2 of other queues"),  # noqa: RUF001 - a range
        QueueRow("7", "herbarium", "", "low (100)"),
        QueueRow("8", "estate-inventories", "", "low (100)"),
    )


def test_others_in_the_same_queue_are_named_as_far_as_they_are_known() -> None:
    site = Site(repository(campaign("maps", 3), campaign("letters", 3)))
    site.add_waiting("maps", at(1), 1)
    site.add_waiting("letters", at(1), 2)
    site.places["job-unknown"] = Place(3, 3, 5)
    site.jobs[1]["metadata"]["annotations"]["gitops-campaigns.io/repository"] = "other"
    assert [(row.campaign, row.who) for row in site.model().queues[0].rows] == [
        ("maps", ""),
        ("", "letters, of another repository"),
        ("", "another in LocalQueue gpu"),
    ]


def test_a_long_queue_is_cut_and_the_rest_counted() -> None:
    site = Site(repository())
    site.places = {f"job-{number}": Place(number, number, 0) for number in range(1, 71)}
    (found,) = site.model().queues
    assert (len(found.rows), found.more) == (50, 20)


def test_what_may_not_be_read_is_said() -> None:
    site = archive()
    site.places, site.places_unread = {}, "not permitted to read the places in the queue"
    site.chain = chain(queue=Unknown("not permitted to read LocalQueue gpu"))
    site.unread = ("pods: not permitted to read them",)
    model = site.model()
    assert model.queues[0].unread == "not permitted to read the places in the queue"
    assert model.quota.unread == "not permitted to read LocalQueue gpu"
    assert model.unread == (
        "pods: not permitted to read them",
        "places in the queue: not permitted to read the places in the queue",
        "queue: not permitted to read LocalQueue gpu",
    )
    assert ("Place", "not known") in cards(model)["court-records"].facts


def test_the_quota_with_what_is_used_borrowed_and_free() -> None:
    found = archive().model().quota
    assert (found.cluster_queue, found.state, found.unread) == ("gpu-cq", "", "")
    l40s, a100 = found.flavors
    assert (l40s.flavor, a100.flavor) == ("l40s", "a100")
    gpu = l40s.usages[2]
    assert (gpu.nominal, gpu.used, gpu.borrowed, gpu.free) == ("24", "28", "4", "0")
    assert (gpu.used_share, gpu.borrowed_share, gpu.nominal_share) == (85.71, 14.29, 85.71)
    memory = a100.usages[1]
    assert (memory.nominal, memory.used, memory.borrowed, memory.free) == (
        *("1Ti", "640Gi", "", "384Gi"),
    )
    assert l40s.lends == (
        "may borrow cpu, memory and nvidia.com/gpu that others of cohort imaging leave free",
    )


def test_how_much_may_be_borrowed() -> None:
    quota = {"cpu": {"nominalQuota": "2", "borrowingLimit": "3"}}
    lends = quota_of(chain(cluster_queue(group({"a": quota}), cohortName="c"))).flavors[0].lends
    assert lends == ("may borrow 3 cpu from cohort c",)
    none = {"cpu": {"nominalQuota": "2", "borrowingLimit": "0"}}
    assert quota_of(chain(cluster_queue(group({"a": none}), cohortName="c"))).flavors[0].lends == ()
    assert quota_of(chain(cluster_queue(group({"a": quota})))).flavors[0].lends == ()


@pytest.mark.parametrize(
    ("of", "unread"),
    [
        (None, "it was not read"),
        (chain(queue=Missing()), "there is no LocalQueue gpu"),
        (chain(Missing()), "there is no ClusterQueue of this LocalQueue"),
        (chain(Unknown("no answer"), queue=local_queue()), "no answer"),
    ],
)
def test_why_the_quota_is_not_known(of: Any, unread: str) -> None:
    assert quota_of(of).unread == unread


@pytest.mark.parametrize(
    ("changes", "state"),
    [
        ({"spec": {"stopPolicy": "Hold"}}, "is stopped and admits nothing (stopPolicy Hold)."),
        (
            {"conditions": [{"type": "Active", "status": "False", "message": "no flavor a"}]},
            "is not active (no flavor a).",
        ),
        ({"conditions": [{"type": "Active", "status": "False", "observedGeneration": 0}]}, ""),
        ({"conditions": [{"type": "Active", "status": "True", "message": "fine"}]}, ""),
    ],
)
def test_a_queue_that_admits_nothing_says_so(changes: Any, state: str) -> None:
    made = queue()
    made["spec"] |= changes.get("spec", {})
    made["status"]["conditions"] = changes.get("conditions", [])
    said = quota_of(chain(made)).state
    assert said == (f"ClusterQueue {made['metadata']['name']} {state}" if state else "")


@pytest.mark.parametrize(
    ("resource", "number", "text"),
    [
        ("cpu", 12_500, "12.5"),
        ("cpu", 2_000_000, "2,000"),
        ("memory", 0, "0"),
        ("memory", 1536 * 1024**2, "1.5Gi"),
        ("memory", 1024**5, "1Pi"),
        ("nvidia.com/gpu", 1200, "1,200"),
    ],
)
def test_amounts_as_people_read_them(resource: str, number: int, text: str) -> None:
    assert spelt(resource, number) == text


def events(model: Model, name: str) -> list[tuple[str, str]]:
    found: list[Event] = [each for each in model.timeline.events if each.campaign == name]
    return [(each.at.iso, each.what) for each in found]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "incunabula",
            [
                (at(3, 4), "ended: finished"),
                (at(27, 12, 2), "admitted on a100"),
                (at(27, 9, 2), "queued"),
            ],
        ),
        ("estate-inventories", [(at(11, 9), "evicted: Preempted"), (at(2), "queued")]),
        ("atlases", [(at(19, 18, 2), "ended: finished"), (at(16, 9, 2), "started")]),
        ("postcards", []),
    ],
)
def test_what_happened_the_last_first(name: str, told: list[tuple[str, str]]) -> None:
    assert events(archive().model(), name) == told


def test_a_campaign_that_was_admitted_again_says_what_is_still_known() -> None:
    site = Site(repository(campaign("maps", 3)))
    site.add_running("maps", at(1), at(5), "a100", active=1)
    site.workloads[0]["status"] |= {
        "accumulatedPastExecutionTimeSeconds": 7200,
        "schedulingStats": {"evictions": [{"reason": "Preempted", "count": 2}]},
    }
    what = events(site.model(), "maps")[0][1]
    assert what == "admitted on a100, after 2 hours of running before; evicted 2 times so far"


def test_a_lane_shows_waiting_running_and_being_stopped() -> None:
    model = archive().model()
    lanes = {lane.campaign: lane for lane in model.timeline.lanes}
    kinds = [span.kind for span in lanes["council-minutes"].spans]
    assert kinds == ["waiting", "running", "stopped"]
    assert [mark.kind for mark in lanes["council-minutes"].marks] == ["evicted"]
    for lane in lanes.values():
        for span in lane.spans:
            assert 0 <= span.start <= span.start + span.width <= 100.01
    assert 2 <= len(model.timeline.ticks) <= 7


def test_a_long_timeline_is_cut_and_the_rest_counted() -> None:
    names = [f"c{number:02}" for number in range(70)]
    site = Site(repository(*(campaign(name, 1) for name in names)))
    for number, name in enumerate(names):
        site.add_waiting(name, at(1 + number // 24, number % 24, 1), 0)
    found = site.model().timeline
    assert (len(found.lanes), found.more_lanes) == (40, 30)
    assert (len(found.events), found.more_events) == (60, 10)
    assert found.lanes[-1].campaign == "c69"


@pytest.mark.parametrize("text", ["", "yesterday"])
def test_what_is_no_time_is_none(text: str) -> None:
    assert moment(text, NOW) is None


def test_a_time_of_another_zone_is_in_utc() -> None:
    found = moment("2026-03-12T10:00:00+02:00", NOW)
    assert found
    assert (found.iso, found.text) == ("2026-03-12T08:00:00Z", "2026-03-12 08:00 UTC")
