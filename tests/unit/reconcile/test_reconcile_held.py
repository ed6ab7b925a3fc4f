"""A hold wins over git: what an apply does, and leaves, about campaigns that are on hold."""

from collections.abc import Callable

import pytest
from unit.cluster.api_server import ApiServer, Request
from unit.reconcile.applies import ACTIVE, PAUSED, applying, details, with_running
from unit.reconcile.live_objects import (
    Object,
    applied,
    campaign,
    ended,
    evicted,
    held,
    job,
    pipeline,
    running,
    stamped_volumes,
    state,
    volumes,
    warmup,
    workload,
)
from unit.reconcile.namespace_store import Namespace
from unit.reconcile.plans import live_campaign, planned, reason, verbs

from converter.errors import Refused
from converter.holds.mark import Mark
from converter.holds.words import in_force, lifted_by, told
from converter.manifest import Manifest
from converter.names import (
    HELD_BY_ANNOTATION,
    HOLD_ANNOTATION,
    HOLD_REASON_ANNOTATION,
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    KUEUE_QUEUE_LABEL,
    SUSPEND_ANNOTATION,
    WAS_INACTIVE_ANNOTATION,
)
from converter.reconcile.held import hold_on, strongest
from converter.reconcile.outcome import Fate
from converter.reconcile.pause import Decision, Move, decide
from converter.reconcile.plan import PauseWish, Verb

PAUSE = PauseWish("scan", "scan", active=False)
RESUME = PauseWish("scan", "scan", active=True)
STOPPED = evicted(job())
GIT_PAUSES = evicted(job(suspended=True))
OPS = {"held_by": "ops", "held_at": "2026-01-01T10:00:00Z", "hold_reason": "a node is lost"}
SAID = "hold 7 is in force (of ops since 2026-01-01T10:00:00Z: a node is lost)"
LIFTED = "`campaigns release scan --instance 7 --deadline 30s` lifts it"


def with_condition(of: Object, kind: str, reason: str) -> Object:
    of["status"]["conditions"] = [{"type": kind, "status": "True", "reason": reason}]
    return of


def active(of: Object) -> Object:
    return {**of, "spec": {"active": True}}


def dying(of: Object) -> Object:
    return {**of, "metadata": {**of["metadata"], "deletionTimestamp": "2026-01-03T00:00:00Z"}}


def alone(of: Object, **annotations: str) -> Object:
    """The Job as no queue system knows it."""
    labels = {k: v for k, v in of["metadata"]["labels"].items() if k != KUEUE_QUEUE_LABEL}
    noted = of["metadata"]["annotations"] | annotations
    return {**of, "metadata": {**of["metadata"], "labels": labels, "annotations": noted}}


@pytest.mark.parametrize(
    ("live", "workloads", "mark"),
    [
        (None, [], None),
        (STOPPED, [], None),
        (STOPPED, [workload(STOPPED, active=False)], None),
        (STOPPED, [held(STOPPED)], Mark(7)),
        (STOPPED, [held(STOPPED, hold_reason="why")], Mark(7, reason="why")),
        (STOPPED, [held(STOPPED, "4294967296")], Mark(None)),
        (STOPPED, [held(STOPPED, "")], Mark(None)),
        (STOPPED, [active(held(STOPPED))], Mark(7)),
        (STOPPED, [dying(held(STOPPED))], None),
        (STOPPED, [with_condition(held(STOPPED), "Finished", "Succeeded")], None),
        (ended(job()), [held(STOPPED)], None),
        (STOPPED, [held(STOPPED), held(STOPPED, "12")], Mark(12)),
        (STOPPED, [held(STOPPED, "soon"), held(STOPPED, "12")], Mark(None)),
        (alone(STOPPED, **{HOLD_ANNOTATION: "7"}), [], Mark(7)),
        (alone(STOPPED, **{HOLD_ANNOTATION: "+7"}), [], Mark(None)),
        (alone(ended(job()), **{HOLD_ANNOTATION: "7"}), [], None),
    ],
)
def test_which_hold_is_on_a_job(
    live: Object | None, workloads: list[Object], mark: Mark | None
) -> None:
    assert hold_on(live, workloads) == mark


def test_a_job_in_the_queue_is_held_by_its_workload_alone() -> None:
    noted = evicted(job())
    noted["metadata"]["annotations"][HOLD_ANNOTATION] = "7"
    assert hold_on(noted, [workload(noted)]) is None


def test_no_hold_is_the_strongest_of_none() -> None:
    assert strongest([None, None]) is None


KEPT = Decision(Move.KEEP, reason=f"stays inactive: {SAID}; {LIFTED}")
NOTHING = Decision(Move.NOTHING)


@pytest.mark.parametrize(
    ("wish", "live", "workloads", "decision"),
    [
        (RESUME, STOPPED, [held(STOPPED, **OPS)], KEPT),
        (RESUME, running(job()), [held(STOPPED, **OPS)], KEPT),
        (
            RESUME,
            STOPPED,
            [with_condition(held(STOPPED, **OPS), "Evicted", "DeactivatedDueToAdmissionCheck")],
            KEPT,
        ),
        (RESUME, STOPPED, [dying(held(STOPPED)), workload(STOPPED)], NOTHING),
        (PAUSE, GIT_PAUSES, [held(GIT_PAUSES)], NOTHING),
        (PAUSE, running(job()), [active(held(STOPPED))], Decision(Move.PATCH, ("job-scan",))),
        (PAUSE, STOPPED, [held(STOPPED)], Decision(Move.NOTE_IN_HOLD, ("job-scan",), "hold 7")),
        (PAUSE, STOPPED, [held(STOPPED, held_inactive="true")], NOTHING),
        (PAUSE, STOPPED, [dying(held(STOPPED)), workload(STOPPED, active=False)], NOTHING),
        (RESUME, alone(STOPPED, **{HOLD_ANNOTATION: "7"}), [], None),
        (PAUSE, alone(STOPPED, **{HOLD_ANNOTATION: "7"}), [], NOTHING),
    ],
    ids=[
        "git wants it to run",
        "placed a moment ago: Kueue has not suspended the Job",
        "on what Kueue has deactivated",
        "gone with its Workload",
        "git pauses it too",
        "git pauses what goes on beside the hold",
        "git pauses it and could not say so on its Job",
        "noted already",
        "git pauses it, and the hold is gone with its Workload",
        "without a queue",
        "without a queue, and paused",
    ],
)
def test_what_a_hold_leaves_of_gits_wish(
    wish: PauseWish, live: Object, workloads: list[Object], decision: Decision | None
) -> None:
    for reactivate in (True, False):
        found = decide(wish, live, workloads, reactivate=reactivate)
        assert found == decision if decision else found.move is Move.KEEP


def test_one_that_goes_on_beside_its_hold_is_not_called_inactive() -> None:
    found = decide(RESUME, running(job()), [active(held(STOPPED, **OPS))], reactivate=True)
    assert found == Decision(Move.KEEP, reason=f"is left as it is: {SAID}; {LIFTED}")


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (Mark(7), "hold 7"),
        (Mark(7, by="ops"), "hold 7 of ops"),
        (Mark(7, reason="a\nb"), "hold 7: a b"),
        (Mark(None, by="x"), "a hold whose instance cannot be read of x"),
    ],
)
def test_a_hold_in_words(mark: Mark, words: str) -> None:
    assert told(mark) == words


def test_a_hold_that_no_call_can_name_is_lifted_by_an_administrator() -> None:
    assert "campaigns release" not in lifted_by(Mark(None), "scan")
    assert in_force(Mark(7)) == "hold 7 is in force (nobody said why)"


def in_queue(of: Object, queue: str) -> Object:
    of["metadata"]["labels"][KUEUE_QUEUE_LABEL] = queue
    return of


def with_minimum(of: Object, minimum: str) -> Object:
    of["metadata"]["annotations"][KUEUE_MIN_PARALLELISM_ANNOTATION] = minimum
    return of


@pytest.mark.parametrize(
    ("live", "what"),
    [
        (evicted(job(window=1)), "window"),
        (with_minimum(evicted(job()), "1"), "window"),
        (in_queue(evicted(job()), "old"), "queue"),
    ],
)
@pytest.mark.parametrize("suspended", [False, True])
def test_what_could_cost_the_hold_is_held_back(live: Object, what: str, suspended: bool) -> None:
    known = state(*live_campaign(live), workloads=(held(live, **OPS),))
    said = reason(campaign(suspended=suspended), known)
    assert said.startswith(f"its {what} changed while {SAID}")
    assert LIFTED in said
    intended = planned(campaign(suspended=suspended), known)
    assert intended.pauses == ((PAUSE,) if suspended else ())
    free = state(*live_campaign(live), workloads=(workload(live, active=False),))
    assert planned(campaign(suspended=suspended), free).held_back == ()


@pytest.mark.parametrize(
    ("manifests", "live", "verb"),
    [
        (campaign(), STOPPED, Verb.UNCHANGED),
        (campaign(suspended=True), STOPPED, Verb.UPDATE),
        (campaign(), GIT_PAUSES, Verb.UPDATE),
    ],
    ids=["unchanged", "git pauses it", "git resumes it"],
)
def test_the_rest_of_a_held_job_is_sent(
    manifests: list[Manifest], live: Object, verb: Verb
) -> None:
    """What git says of its pause decides what the release does."""
    intended = planned(manifests, state(*live_campaign(live), workloads=(held(live),)))
    assert intended.held_back == ()
    assert ("Job/scan", verb) in verbs(intended)


def with_held(namespace: Namespace, name: str = "scan", **of_job: object) -> Object:
    """A campaign that runs, or did, and is on hold."""
    live = evicted(job(name, **of_job))  # type: ignore[arg-type]
    of = stamped_volumes(volumes(name), live["metadata"]["uid"])
    namespace.add(applied(pipeline()), live, of, held(live, **OPS))
    return live


def workload_writes(namespace: Namespace) -> list[tuple[str, str]]:
    return [each for each in namespace.written if each[1].startswith("workloads/")]


def test_git_resumes_a_held_campaign_in_name_only(namespace: Namespace, api: ApiServer) -> None:
    with_held(namespace, suspended=True)
    outcome = applying(api, ACTIVE)
    assert SUSPEND_ANNOTATION not in namespace.job()["metadata"]["annotations"]
    assert namespace.job()["spec"]["suspend"] is True
    assert workload_writes(namespace) == []
    assert details(outcome, Fate.NOTE) == [("scan", f"stays inactive: {SAID}; {LIFTED}")]
    assert (outcome.exit_code, namespace.started_unadmitted) == (0, [])


def test_git_pauses_a_held_campaign_for_the_time_after(
    namespace: Namespace, api: ApiServer
) -> None:
    with_held(namespace)
    outcome = applying(api, PAUSED)
    assert namespace.job()["metadata"]["annotations"][SUSPEND_ANNOTATION] == "true"
    assert workload_writes(namespace) == []
    assert outcome.exit_code == 0


def test_a_pause_that_is_held_back_is_noted_in_the_hold_once(
    namespace: Namespace, api: ApiServer
) -> None:
    """Else its release would start what git pauses."""
    with_held(namespace)
    wider = [pipeline(), *campaign(suspended=True, window=3)]
    for writes in (1, 1):
        assert applying(api, wider).exit_code == 3
        assert workload_writes(namespace) == [("PATCH", "workloads/job-scan")] * writes
    found = namespace.objects["workloads"]["job-scan"]
    noted = found["metadata"]["annotations"]
    assert (noted[WAS_INACTIVE_ANNOTATION], noted[HOLD_ANNOTATION]) == ("true", "7")
    assert found["spec"] == {"active": False}


def test_a_hold_on_what_kueue_deactivated_keeps_its_workload(
    namespace: Namespace, api: ApiServer
) -> None:
    with_held(namespace)
    with_condition(
        namespace.objects["workloads"]["job-scan"],
        "Evicted",
        "DeactivatedDueToMaximumExecutionTimeExceeded",
    )
    outcome = applying(api, ACTIVE)
    assert workload_writes(namespace) == []
    assert details(outcome, Fate.RESUMED) == []


OTHER = [pipeline(), *campaign("other")]


def test_a_held_campaign_is_not_pruned(namespace: Namespace, api: ApiServer) -> None:
    with_held(namespace)
    with_running(namespace, "gone")
    outcome = applying(api, OTHER, prune=True)
    [(target, detail)] = details(outcome, Fate.HELD_BACK)
    assert target == "campaign scan"
    assert detail.startswith(f"its file is gone, and {SAID}; {LIFTED}")
    assert "--release-holds" in detail
    assert details(outcome, Fate.PRUNED) == [("Job/gone", ""), ("ConfigMap/campaign-gone", "")]
    assert {"scan", "other"} == namespace.objects["jobs"].keys()
    assert "campaign-scan" in namespace.objects["configmaps"]
    assert outcome.exit_code == 3


def test_the_pipeline_of_a_held_campaign_stays_with_it(
    namespace: Namespace, api: ApiServer
) -> None:
    with_held(namespace)
    applying(api, [pipeline("hwr"), *campaign("other", pipeline="hwr")], prune=True)
    assert "pipeline-ocr" in namespace.objects["configmaps"]


def test_release_holds_lets_it_be_pruned_and_names_the_hold(
    namespace: Namespace, api: ApiServer
) -> None:
    with_held(namespace)
    outcome = applying(api, OTHER, prune=True, release_holds=True)
    (released, _) = details(outcome, Fate.PRUNED)
    assert released[0] == "Job/scan"
    assert f"released with it, though {SAID}" in released[1]
    assert "scan" not in namespace.objects["jobs"]
    assert outcome.exit_code == 0


def test_a_hold_whose_instance_cannot_be_read_holds_too(
    namespace: Namespace, api: ApiServer
) -> None:
    live = with_held(namespace)
    namespace.add(held(live, "seven"))
    outcome = applying(api, OTHER, prune=True)
    assert "scan" in namespace.objects["jobs"]
    assert "cannot be read" in details(outcome, Fate.HELD_BACK)[0][1]
    assert "cannot be read" in details(applying(api, [*ACTIVE, *OTHER]), Fate.NOTE)[0][1]
    assert workload_writes(namespace) == []


def when(place: str, number: int, then: Callable[[], None]) -> Callable[[Request], None]:
    """Something that happens before the LIST of this number is answered."""
    lists = []

    def count(request: Request) -> None:
        if request.method == "GET" and request.path.endswith(place):
            lists.append(request)
            if len(lists) == number:
                then()

    return count


def test_a_hold_that_comes_while_apply_runs_keeps_from_the_prune(
    namespace: Namespace, api: ApiServer
) -> None:
    live = with_running(namespace)
    lists: list[str] = []

    def note(request: Request) -> None:
        if request.method == "GET" and request.path.endswith("/workloads"):
            lists.append(request.path)

    namespace.refuses = note
    applying(api, [pipeline(), *campaign("other")])
    namespace.refuses = when("/workloads", len(lists), lambda: namespace.add(held(live)))
    outcome = applying(api, OTHER, prune=True)
    assert len(details(outcome, Fate.HELD_BACK)) == 1
    assert "scan" in namespace.objects["jobs"]
    assert outcome.exit_code == 3


def test_all_or_nothing_counts_what_may_not_be_pruned(namespace: Namespace, api: ApiServer) -> None:
    with_held(namespace)
    with pytest.raises(Refused, match="campaign scan"):
        applying(api, OTHER, prune=True, all_or_nothing=True)
    assert namespace.written == []


def test_without_prune_the_hold_is_named(namespace: Namespace, api: ApiServer) -> None:
    with_held(namespace)
    [(target, detail)] = details(applying(api, OTHER), Fate.NOTE)
    assert target == "campaign scan"
    assert SAID in detail
    assert "--release-holds" in detail


def test_what_may_not_be_pruned_does_not_count_against_the_limit(
    namespace: Namespace, api: ApiServer
) -> None:
    for number in range(6):
        with_held(namespace, f"scan-{number}")
    assert len(details(applying(api, OTHER, prune=True), Fate.HELD_BACK)) == 6
    with pytest.raises(Refused, match="--prune-limit 6"):
        applying(api, OTHER, prune=True, release_holds=True)


def test_a_campaign_of_which_one_part_is_held_stays_whole() -> None:
    one, two = (evicted(job(f"scan-part{n}", campaign="scan")) for n in (1, 2))
    live = state(*live_campaign(one), *live_campaign(two), workloads=(held(one), workload(two)))
    kept = planned([pipeline()], live).keeping_held()
    assert (kept.unwanted, [each.name for each in kept.held_back]) == ((), ["scan"])


def test_a_held_warmup_is_neither_replaced_nor_pruned(namespace: Namespace, api: ApiServer) -> None:
    live = alone(
        applied(warmup(recipe="old")),
        **{HOLD_ANNOTATION: "7", HELD_BY_ANNOTATION: "ops", HOLD_REASON_ANNOTATION: "why"},
    )
    live["spec"]["suspend"] = True
    namespace.add(applied(pipeline()), live)
    [(target, detail)] = details(applying(api, [pipeline(), warmup()]), Fate.NOTE)
    assert target == "Job/warmup-ocr"
    assert detail.startswith("it is not made anew: hold 7 is in force (of ops: why)")
    outcome = applying(api, [pipeline("hwr"), *campaign("other", pipeline="hwr")], prune=True)
    assert [target for target, _ in details(outcome, Fate.HELD_BACK)] == ["pipeline ocr"]
    assert "warmup-ocr" in namespace.objects["jobs"]
