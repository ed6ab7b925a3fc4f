"""The settings of a Slurm cluster, and what has no meaning there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from unit.checks.files import (
    at,
    at_key,
    flavor,
    found,
    loaded,
    some_campaign,
    some_pipeline,
    some_settings,
)

from converter.checks import check
from converter.checks.registry import looked_at
from converter.model import Backend, Size, SlurmFlavor, SlurmPriority, SlurmSettings, Warmup

PATH = "converter.yaml"
SLURM = SlurmSettings("/shared/campaigns", ("apptainer", "exec", "docker://{image}"))
SETTINGS: dict[str, Any] = {"backend": Backend.SLURM, "slurm": SLURM}
TAKE_OUT = {
    "tolerations": "take tolerations out",
    "runtime_class": "write the option into slurm.container, and take runtime_class out",
    "s3_secret": "put what it holds into a file on the nodes that only the jobs' user can read, "
    "and take s3_secret out",
    "warmup": "put models where the nodes can read them before the campaign, and take warmup out",
}
MEANINGLESS: dict[str, Any] = {
    "flavors": (flavor("a100", {"gpu": "a100"}),),
    "node_selector": {"gpu": "a100"},
    "tolerations": ({"key": "gpu"},),
    "runtime_class": "nvidia",
    "secrets": {"token": "/work"},
    "s3_secret": "s3",
    "hf_token_secret": "hf",
    "data_pvc": "models",
    "warmup": Warmup(("fetch",)),
}
HARMLESS: dict[str, Any] = {
    "namespace": "team",
    "queue": "",
    "quota": {"cpu": "1", "memory": "1Gi"},
    "window": 200_000,
    "warmup_wait_seconds": 1,
    "ttl_seconds_after_finished": 1,
    "results_url": "https://results.example.org",
    "sizes": {"s": Size("s", "1", "64Mi")},
}


@pytest.mark.parametrize("key", MEANINGLESS)
def test_what_only_kubernetes_has_is_refused(key: str) -> None:
    value = {key: MEANINGLESS[key]}
    problems = check(loaded(some_campaign(), settings=some_settings(**SETTINGS, **value)))
    assert [problem.code for problem in problems] == ["S020"]
    ((_, position, message, remedy),) = found("S020", **SETTINGS, **value)
    assert position == at_key(key)
    assert message.startswith("backend slurm has no ")
    assert remedy.endswith(f"take {key} out")
    assert TAKE_OUT.get(key, remedy) == remedy
    assert found("S020", backend=Backend.NONE, **value) == []


@pytest.mark.parametrize("key", HARMLESS)
def test_what_says_nothing_may_stay(key: str) -> None:
    settings = some_settings(**SETTINGS, **{key: HARMLESS[key]})
    assert check(loaded(some_campaign(), settings=settings)) == ()


def test_a_pipeline_has_no_warmup() -> None:
    problems = check(
        loaded(
            some_campaign(),
            some_pipeline(warmup=Warmup(args=("--all",)), max_seconds=1),
            settings=some_settings(**SETTINGS),
        )
    )
    assert [(problem.path, problem.code) for problem in problems] == [
        ("pipelines/ocr.yaml", "S020")
    ]


@pytest.mark.parametrize(("key", "where"), [("command", 1), ("args", 0)])
def test_no_command_reads_steps_where_there_are_none(key: str, where: int) -> None:
    words: Any = ("ocr", "--config=/config/pipeline.yaml")[1 - where :]
    ((path, position, message, remedy),) = found("S020", some_pipeline(**{key: words}), **SETTINGS)
    assert (path, position) == ("pipelines/ocr.yaml", at(key, where))
    assert message == "with backend slurm there is no /config/pipeline.yaml"
    assert "PIPELINE_PATH" in remedy
    assert len(found("S020", **SETTINGS, command=("ocr", "/config/pipeline.yaml"))) == 1


@pytest.mark.parametrize(
    ("container", "message"),
    [
        ((), None),
        (("run", "{image}"), None),
        (("run", "--image=docker://{image}", "--"), None),
        (("run",), "no {image} in container"),
        (("run", "{images}"), "no {image} in container"),
        (("run", "{image}", "{image}"), "container has {image} in it 2 times"),
        (("run", "{image}{image}"), "container has {image} in it 2 times"),
        (("{image}",), "the first entry of container is not a program"),
        (("", "{image}"), "the first entry of container is not a program"),
    ],
)
def test_a_container_is_given_the_image(container: tuple[str, ...], message: str | None) -> None:
    problems = found("S021", backend=Backend.SLURM, slurm=replace(SLURM, container=container))
    assert [each[2] for each in problems] == ([message] if message else [])
    assert all(each[1] == at("slurm", "container") for each in problems)


@pytest.mark.parametrize(
    ("classes", "priorities", "places"),
    [
        ((), (), []),
        (("a", "b"), ("b", "a"), []),
        (("a", "b"), ("a",), [at("priority_classes", 1)]),
        (("a",), ("a", "b"), [at_key("slurm", "priorities", "b")]),
        (("a",), ("b",), [at("priority_classes", 0), at_key("slurm", "priorities", "b")]),
    ],
)
def test_priorities_mean_something(
    classes: tuple[str, ...], priorities: tuple[str, ...], places: list[tuple[int, int]]
) -> None:
    slurm = replace(SLURM, priorities={name: SlurmPriority(nice=1) for name in priorities})
    problems = found("S022", backend=Backend.SLURM, slurm=slurm, priority_classes=classes)
    assert sorted(each[1] for each in problems) == sorted(places)
    assert found("S022", backend=Backend.NONE, priority_classes=classes) == []


def test_a_flavor_is_one_of_slurm() -> None:
    sizes = {"s": Size("s", "1", "1Gi", flavor="a10")}
    slurm = replace(SLURM, flavors={"a100": SlurmFlavor("gpu")})
    assert found("S005", backend=Backend.SLURM, slurm=slurm, sizes=sizes) == [
        (PATH, at("sizes", "s", "flavor"), 'there is no flavor "a10"', "did you mean a100?")
    ]
    ((*_, remedy),) = found("S005", **SETTINGS, sizes=sizes)
    assert remedy == "add it to slurm.flavors, or take it out"
    named = {"s": replace(sizes["s"], flavor="a100")}
    assert found("S005", backend=Backend.SLURM, slurm=slurm, sizes=named) == []


def test_a_name_needs_no_room_for_an_index() -> None:
    long = some_campaign("a" * 63)
    assert len(found("C003", long)) == 1
    assert found("C003", long, **SETTINGS) == []


def test_parts_with_one_name_are_job_arrays() -> None:
    slurm = replace(SLURM, max_array_size=1)
    campaigns = [some_campaign("a" * 50 + end, ("a", "b")) for end in "xy"]
    ((*_, message, _),) = found("C004", *campaigns, backend=Backend.SLURM, slurm=slurm)
    assert message.startswith(f"its job array {'a' * 50}-part1 and the directory of that have")


def test_no_comment_about_a_rule_of_kubernetes_is_called_unused() -> None:
    with_slurm = looked_at(loaded(settings=some_settings(**SETTINGS)))
    without = looked_at(loaded(settings=some_settings(backend=Backend.NONE)))
    kueue = looked_at(loaded(settings=some_settings()))
    assert {"S011", "P009", "C003"} <= without - with_slurm
    assert {"S001", "C011"} <= kueue - without
    assert {"S020", "C010"} <= with_slurm
