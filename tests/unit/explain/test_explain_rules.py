"""What is not on the cluster, campaigns of several Jobs, and the order of causes."""

from dataclasses import replace

import pytest
from unit.explain.scene import (
    FILE,
    Scene,
    a_queue,
    condition,
    held_back,
    manifests,
    refused,
    repository,
    rests,
    runs,
    waits,
    with_conditions,
)
from unit.reconcile.live_objects import queued, running, workload

from converter.explain.rules import first_sentence
from converter.explain.text import last_words, listed
from converter.model import Repo, SourceKind, Volume
from converter.names import HOLD_ANNOTATION
from converter.observe.refusal import Refusal
from converter.wording import said


@pytest.mark.parametrize(
    ("refusals", "code", "words"),
    [
        ({}, "not-applied", "could not be tried out"),
        ({"letters": None}, "not-applied", f"no apply has run since {FILE} came into git"),
        ({"letters": held_back("no class x")}, "held-back", "no class x"),
        ({"letters": refused("Invalid: no")}, "refused", "refuses it: Invalid"),
        (
            {"letters": refused('failed calling webhook "mjob.kb.io"')},
            "webhook-down",
            "mjob.kb.io",
        ),
        (
            {"letters": refused("ValidatingAdmissionPolicy 'p' denied")},
            "refused-by-policy",
            "'p' denied",
        ),
        (
            {"letters": refused('admission webhook "w" denied the request: no')},
            "refused-by-policy",
            "no",
        ),
        (
            {"letters": refused("Forbidden: exceeded quota: jobs")},
            "namespace-quota",
            "exceeded quota",
        ),
    ],
)
def test_what_is_in_git_only(refusals: dict[str, Refusal | None], code: str, words: str) -> None:
    (found,) = Scene(refusals=refusals).causes()
    assert (found.code, words in found.sentence) == (code, True), found
    assert found.remedy


NARROWER = repository(window=1)
PAUSED = repository(suspend=True)
DIFFERS = "git and the cluster differ: its window is 2, and git says 1"


def full() -> Scene:
    return waits(chain=a_queue(used={"nvidia.com/gpu": "8"}))


def edited(scene: Scene, repo: Repo = NARROWER) -> Scene:
    """Git has another campaign than the one that was applied."""
    return replace(scene, repo=repo)


@pytest.mark.parametrize(
    ("scene", "codes"),
    [
        (edited(runs()), ["drifted", "running"]),
        (edited(full()), ["queue-full", "drifted"]),
        (edited(rests(annotations={HOLD_ANNOTATION: "7"})), ["held", "drifted"]),
        (
            edited(rests(None, condition("Evicted", reason="DeactivatedDueToAdmissionCheck"))),
            ["deactivated", "drifted"],
        ),
        (edited(rests(PAUSED), repository(window=1, suspend=True)), ["paused-in-git", "drifted"]),
        (edited(full(), PAUSED), ["drifted", "queue-full"]),
        (edited(runs(), PAUSED), ["drifted", "running"]),
        (edited(rests(PAUSED), repository()), ["drifted"]),
        (edited(full(), replace(NARROWER, campaigns={})), ["not-in-git", "queue-full"]),
    ],
)
def test_what_keeps_it_from_running_comes_before_what_git_has_otherwise(
    scene: Scene, codes: list[str]
) -> None:
    assert scene.codes() == codes


def test_what_git_has_otherwise_is_told_with_what_keeps_it_from_being_sent() -> None:
    scene = edited(runs())
    assert scene.first().sentence == DIFFERS
    held = replace(scene, refusals={"letters": held_back("Kueue would stop it")})
    assert held.first().sentence.endswith(", and apply holds it back: Kueue would stop it")


def test_what_git_has_no_longer() -> None:
    scene = runs()
    gone = replace(scene, repo=replace(scene.repo, campaigns={}))
    assert gone.codes() == ["not-in-git", "running"]
    assert "--prune" in gone.first().remedy


def test_what_git_has_no_longer_and_is_held_is_cancelled_with_its_hold() -> None:
    scene = rests(annotations={HOLD_ANNOTATION: "7"})
    gone = replace(scene, repo=replace(scene.repo, campaigns={}))
    assert gone.codes() == ["not-in-git", "held"]
    assert "when hold 7 is released, or with --release-holds, to cancel" in gone.first().remedy


def two_parts() -> Scene:
    """A campaign of two Jobs, the first of which runs; the second waits."""
    listed_twice = tuple(Volume(f"v{n}", SourceKind.SOURCE, "x" * 500_000) for n in range(2))
    repo = repository()
    letters = replace(repo.campaigns["letters"], volumes=listed_twice, window=1)
    repo = replace(repo, campaigns={"letters": letters})
    one, two = manifests(repo)
    first = {**running(one), "status": {"active": 1, "ready": 1}}
    second = queued(two)
    admitted = [condition(kind) for kind in ("QuotaReserved", "Admitted")]
    pending = condition("QuotaReserved", "False", "Pending", "no room")
    return Scene(
        repo,
        (first, second),
        (
            with_conditions(workload(first), *admitted),
            with_conditions(workload(second), pending),
        ),
        chain=a_queue(used={"nvidia.com/gpu": "8"}),
    )


def test_parts_that_differ_are_told_by_name() -> None:
    waiting, going_on = two_parts().causes()
    assert (waiting.code, going_on.code) == ("queue-full", "running")
    assert waiting.sentence.startswith("letters-part2: its quota is in use")
    assert going_on.sentence.startswith("letters-part1: it runs")


def test_what_all_parts_have_in_common_is_told_once() -> None:
    scene = two_parts()
    first, second = scene.jobs
    both = [
        with_conditions(workload(job), condition("QuotaReserved", "False", message="no room"))
        for job in (first, second)
    ]
    first = {**first, "spec": {**first["spec"], "suspend": True}, "status": {}}
    (found,) = replace(scene, jobs=(first, second), workloads=tuple(both)).causes()
    assert found.sentence.startswith("its quota is in use")


def test_a_part_that_is_missing_comes_first() -> None:
    scene = two_parts()
    alone = replace(
        scene,
        jobs=scene.jobs[:1],
        workloads=scene.workloads[:1],
        refusals={"letters": refused("no")},
    )
    assert alone.codes() == ["refused", "running"]
    assert alone.first().sentence == (
        "letters-part2 is not on the cluster: the API server refuses it: no"
    )


@pytest.mark.parametrize(
    ("scene", "sentence"),
    [
        (runs(), ""),
        (Scene(refusals={"letters": held_back("x")}), "apply holds it back: x"),
        (
            Scene(refusals={"letters": held_back(f"{'long ' * 60}")}),
            f"apply holds it back: {'long ' * 27}lon…",
        ),
    ],
)
def test_the_first_cause_in_few_words(scene: Scene, sentence: str) -> None:
    assert first_sentence(scene.facts()) == sentence


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a\nb\t c", "a b c"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07x", "x"),
        ("a\u202eb\u200bc", "a b c"),
        (None, ""),
        ("x" * 400, "x" * 299 + "…"),
    ],
)
def test_what_others_wrote_is_put_on_one_line(text: str | None, plain: str) -> None:
    assert said(text) == plain


def test_words() -> None:
    assert last_words("1\n2\n\n3\n4\n") == "2 / 3 / 4"
    assert [listed("abc"[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
