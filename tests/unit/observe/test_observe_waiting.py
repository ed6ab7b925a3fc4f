"""Waiting: when it ends, what it outlives, and what it comes to."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from converter.errors import ApiError, ClusterUnavailable, Forbidden, NoCredentials
from converter.observe.phase import Phase
from converter.observe.status import Status
from converter.observe.waiting import (
    API_SERVERS_PACE,
    REFUSALS,
    SLURMS_PACE,
    Followed,
    Pace,
    Result,
    awaited,
    detail_of,
    follow,
    result_of,
    worst,
)
from converter.reconcile.outcome import Event, Fate, Outcome

RUNNING = Status("a", Phase.RUNNING, 2)
ENDED = Status("a", Phase.FINISHED, 2, done=2)
AWAY = ClusterUnavailable("no answer")


def answer(status: int) -> ApiError:
    return ApiError("read", "jobs", status, "Reason", "words")


def expired() -> Forbidden:
    return Forbidden("read", "jobs", 401, "Unauthorized", "Unauthorized")


@dataclass
class World:
    """Answers one a read, the last one for ever; time passes only in sleeps."""

    answers: list[Status | Exception]
    now: float = 0.0
    shown: list[tuple[str, str]] = field(default_factory=list)

    def read(self) -> Sequence[Status]:
        found = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(found, Exception):
            raise found
        return [found]

    def show(self, statuses: Sequence[Status], trouble: str) -> None:
        self.shown.append((" ".join(status.phase for status in statuses), trouble))

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += seconds

    def follow(self, seconds: float | None = None, pace: Pace = API_SERVERS_PACE) -> Followed:
        return follow(
            self.read,
            self.show,
            seconds=seconds,
            pace=pace,
            sleep=self.sleep,
            clock=lambda: self.now,
        )


@pytest.mark.parametrize("phase", [phase for phase in Phase if phase.rests])
def test_it_ends_when_all_rest(phase: Phase) -> None:
    world = World([RUNNING, RUNNING, Status("a", phase, 2)])
    assert world.follow() == Followed((Status("a", phase, 2),))
    assert [shown for shown, _ in world.shown] == ["Running", "Running", phase]


def test_one_that_rests_already_costs_no_time() -> None:
    world = World([ENDED])
    world.follow(seconds=10)
    assert world.now == 0


def test_the_time_passes() -> None:
    world = World([RUNNING])
    assert world.follow(seconds=100) == Followed((RUNNING,), timed_out=True)
    assert world.now == 100


@pytest.mark.parametrize("fault", [AWAY, answer(500), answer(503), answer(429), answer(410)])
def test_a_fault_that_may_pass_is_outlived(fault: Exception) -> None:
    world = World([RUNNING, *[fault] * 500, ENDED])
    assert world.follow() == Followed((ENDED,))
    assert world.shown[1] == ("Running", str(fault))
    assert world.shown[-1] == ("Finished", "")


def test_the_time_passes_while_the_api_server_is_away() -> None:
    world = World([AWAY])
    assert world.follow(seconds=60) == Followed((), timed_out=True, trouble="no answer")


def test_what_rested_before_a_fault_is_not_taken_for_now() -> None:
    world = World([AWAY, answer(503), ENDED])
    assert world.follow() == Followed((ENDED,))
    assert len(world.shown) == 3


@pytest.mark.parametrize("fault", [expired(), answer(403), answer(404), answer(302)])
def test_an_api_server_that_keeps_refusing_ends_it(fault: ApiError) -> None:
    world = World([RUNNING, fault])
    with pytest.raises(ClusterUnavailable, match="the campaigns go on in the cluster"):
        world.follow()
    assert len(world.shown) == REFUSALS


def test_credentials_that_cannot_be_renewed_end_it() -> None:
    world = World([RUNNING, NoCredentials("the plugin is gone")])
    with pytest.raises(NoCredentials):
        world.follow()
    assert len(world.shown) == REFUSALS
    once = World([RUNNING, NoCredentials("the plugin failed"), ENDED])
    assert once.follow() == Followed((ENDED,))


def test_an_expired_token_is_named() -> None:
    with pytest.raises(ClusterUnavailable) as caught:
        World([expired()]).follow()
    assert str(caught.value) == (
        "the API server no longer accepts the token (401 Unauthorized), so it cannot be seen how "
        "they end; the campaigns go on in the cluster: get a new token and see `campaigns status`"
    )


def test_refusals_in_between_are_outlived() -> None:
    some = [expired()] * (REFUSALS - 1)
    world = World([*some, RUNNING, *some, answer(503), *some, ENDED])
    assert world.follow() == Followed((ENDED,))


@pytest.mark.parametrize(
    ("pace", "elapsed", "pause"),
    [
        *((API_SERVERS_PACE, *each) for each in ((0, 1), (30, 1), (60, 2), (450, 15), (1e6, 15))),
        *((SLURMS_PACE, *each) for each in ((0, 5), (150, 5), (300, 10), (1800, 60), (1e6, 60))),
    ],
)
def test_a_long_wait_is_cheap(pace: Pace, elapsed: float, pause: float) -> None:
    assert pace.after(elapsed) == pause


def test_a_slurm_that_is_away_is_not_asked_as_often_as_it_can_refuse() -> None:
    world = World([AWAY])
    world.follow(seconds=600, pace=SLURMS_PACE)
    assert len(world.shown) == 1 + 600 / SLURMS_PACE.trouble


GIT_RUNS = {
    Phase.PAUSING: Result.GOING_ON,
    Phase.RUNNING: Result.GOING_ON,
    Phase.WAITING: Result.GOING_ON,
    Phase.HELD: Result.STOPPED,
    Phase.PAUSED: Result.STOPPED,
    Phase.MISSING: Result.GONE,
    Phase.FAILED: Result.FAILED,
    Phase.PARTLY_FAILED: Result.FAILED,
    Phase.FINISHED: Result.FINISHED,
}
GIT_PAUSES = {**GIT_RUNS, Phase.HELD: Result.PAUSED, Phase.PAUSED: Result.PAUSED}


CASES = [
    *((phase, False, result) for phase, result in GIT_RUNS.items()),
    *((phase, True, result) for phase, result in GIT_PAUSES.items()),
]


def test_every_phase_comes_to_something() -> None:
    assert set(GIT_RUNS) == set(Phase)


@pytest.mark.parametrize(("phase", "suspended", "result"), CASES)
def test_what_a_phase_comes_to(phase: Phase, suspended: bool, result: Result) -> None:
    assert result_of(Status("a", phase, 1), suspended=suspended) is result


@pytest.mark.parametrize(
    ("result", "code"),
    [
        (Result.FINISHED, 0),
        (Result.PAUSED, 0),
        (Result.STOPPED, 3),
        (Result.FAILED, 1),
        (Result.GONE, 1),
        (Result.GOING_ON, 1),
    ],
)
def test_what_a_result_costs(result: Result, code: int) -> None:
    assert result.exit_code == code


@pytest.mark.parametrize(
    ("codes", "code"), [((), 0), ((0, 0), 0), ((0, 3), 3), ((3, 1, 0), 1), ((1, 3), 1)]
)
def test_one_beats_three_beats_nought(codes: tuple[int, ...], code: int) -> None:
    assert worst(codes) == code


@pytest.mark.parametrize(
    ("status", "result", "detail"),
    [
        (
            Status("a", Phase.PARTLY_FAILED, 3, done=2, failed=1),
            Result.FAILED,
            "PartlyFailed, 2/3 done, 1 failed: apply again to record it, then see "
            "`campaigns retry a`",
        ),
        (
            Status("a", Phase.HELD, 3, detail="hold 7"),
            Result.STOPPED,
            "Held, 0/3 done, 0 failed (hold 7): git wants it to run, and it was stopped on the "
            "cluster",
        ),
        (Status("a", Phase.RUNNING, 3, done=1), Result.GOING_ON, "Running, 1/3 done, 0 failed"),
        (
            Status("a", Phase.MISSING, 3),
            Result.GONE,
            "it is gone, and nothing says how it ended: apply again to see what is left",
        ),
    ],
)
def test_what_is_said(status: Status, result: Result, detail: str) -> None:
    assert detail_of(status, result) == detail


def test_an_end_that_the_apply_has_kept_is_not_to_be_recorded() -> None:
    status = Status("a", Phase.FAILED, 1, failed=1)
    detail = "Failed, 0/1 done, 1 failed: see `campaigns retry a`"
    assert detail_of(status, Result.FAILED, recorded=True) == detail


@pytest.mark.parametrize(
    ("fate", "waits"),
    [
        (Fate.CREATED, True),
        (Fate.UNCHANGED, True),
        (Fate.RESUMED, True),
        (Fate.PAUSED, True),
        (Fate.NOTE, True),
        (Fate.RECORDED, True),
        (Fate.HELD_BACK, False),
        (Fate.REFUSED, False),
        (Fate.FINISHED, False),
    ],
)
def test_what_is_waited_for(fate: Fate, waits: bool) -> None:
    outcome = Outcome(lambda event: None, [Event(fate, "campaign a", campaign="a")])
    assert awaited(["a", "b"], outcome) == ({"a", "b"} if waits else {"b"})
