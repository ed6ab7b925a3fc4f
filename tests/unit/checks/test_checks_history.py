"""Rules that compare a repository with what a commit has."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from unit.checks.files import (
    DIGEST,
    at,
    at_key,
    flavor,
    loaded,
    some_campaign,
    some_pipeline,
    some_settings,
)

from converter.checks import check, history_pods
from converter.checks.history import free_name
from converter.checks.registry import history_rules
from converter.load import load_repo
from converter.load.earlier import Earlier, earlier
from converter.load.result import LoadResult
from converter.model import (
    Backend,
    Campaign,
    Pipeline,
    Settings,
    Size,
    SlurmSettings,
    SourceKind,
    Volume,
    Warmup,
)
from converter.rule import Rule

Where = tuple[str, tuple[int, int], str]
OTHER_IMAGE = DIGEST.replace("0" * 64, "1" * 64)
LARGE = Size("large", cpu="4", memory="16Gi", gpu=1, workdir="2Gi")
HISTORY = sorted(history_rules(), key=lambda rule: rule.code)


def was(*files: Campaign | Pipeline, settings: Settings | None = None) -> Earlier:
    """At HEAD, the files, with some_pipeline() and some_settings()."""
    pipelines = {file.id: file for file in files if isinstance(file, Pipeline)}
    return Earlier(
        "HEAD",
        some_settings() if settings is None else settings,
        pipelines or {"ocr": some_pipeline()},
        {file.name: file for file in files if isinstance(file, Campaign)},
    )


def is_now(*files: Campaign | Pipeline, settings: Settings | None = None) -> LoadResult:
    return loaded(*files, settings=some_settings() if settings is None else settings)


def found(now: LoadResult, then: Earlier) -> list[tuple[str, str, tuple[int, int], str]]:
    return [
        (problem.code, problem.path, (problem.line, problem.column), problem.message)
        for problem in check(now, earlier=then)
        if problem.code.startswith("G")
    ]


def remedies(now: LoadResult, then: Earlier) -> list[str]:
    return [each.remedy for each in check(now, earlier=then) if each.code.startswith("G")]


def codes(now: LoadResult, then: Earlier) -> list[str]:
    return [code for code, *_ in found(now, then)]


def with_env(volume: str, **env: str) -> Volume:
    return Volume(volume, SourceKind.REFERENCE, volume, env=env)


def source(volume: str, text: str) -> Volume:
    return Volume(volume, SourceKind.SOURCE, text)


def images(volume: str, *urls: str) -> Volume:
    return Volume(volume, SourceKind.IMAGES, images=urls)


@pytest.mark.parametrize(
    ("then", "now", "place", "difference"),
    [
        (["a"], ["a", "b", "c"], at("volumes", 1), "2 added"),
        (["a", "b"], ["b"], at("volumes", 0), "1 removed"),
        (["a", "b", "c"], ["a"], at_key("volumes"), "2 removed"),
        (["a", "b"], ["a", "c"], at("volumes", 1), "1 added and 1 removed"),
        (["a", "b", "c"], ["a", "c", "b"], at("volumes", 1), "its order changed"),
        (["a", source("b", "x")], ["a", source("b", "y")], at("volumes", 1), "1 changed"),
        (["a"], [source("a", "a")], at("volumes", 0), "1 changed"),
        ([images("a", "u", "v")], [images("a", "v", "u")], at("volumes", 0), "1 changed"),
        ([with_env("a")], [with_env("a", X="1")], at("volumes", 0), "1 changed"),
        (
            ["a", "b"],
            ["c", with_env("b", X="1")],
            at("volumes", 0),
            "1 added, 1 removed and 1 changed",
        ),
    ],
)
def test_the_list_of_volumes_may_not_change(
    then: list[str | Volume], now: list[str | Volume], place: tuple[int, int], difference: str
) -> None:
    current, before = is_now(some_campaign(volumes=now)), was(some_campaign(volumes=then))
    message = f"the list of volumes is not that of HEAD: {difference}"
    assert found(current, before) == [("G001", "campaigns/letters.yaml", place, message)]
    assert remedies(current, before) == [
        "put the old list back, and write new work into a new file, for example "
        "campaigns/letters-2.yaml"
    ]


def test_the_order_of_a_volumes_environment_is_no_difference() -> None:
    now = is_now(some_campaign(volumes=[with_env("a", X="1", Y="2")]))
    assert found(now, was(some_campaign(volumes=[with_env("a", Y="2", X="1")]))) == []


def test_the_pipeline_of_a_campaign_may_not_change() -> None:
    now = is_now(some_campaign(pipeline="tei"), some_pipeline(), some_pipeline("tei"))
    before = was(some_campaign(), some_pipeline(), some_pipeline("tei"))
    message = 'the pipeline was "ocr" in HEAD, and is now "tei"'
    assert found(now, before) == [("G002", "campaigns/letters.yaml", at("pipeline"), message)]
    assert remedies(now, before) == [
        "write ocr again, and a new file for the other pipeline, for example "
        "campaigns/letters-2.yaml"
    ]


def test_what_may_change_of_a_campaign() -> None:
    now = is_now(some_campaign(priority="", suspend=True, min_window=1))
    assert found(now, was(some_campaign(priority="high"))) == []


@pytest.mark.parametrize(
    "change",
    [
        {"image": OTHER_IMAGE},
        {"command": ("ocr", "--best")},
        {"args": ("--best",)},
        {"env": {"MODEL": "large"}},
        {"steps": [{"step": "read"}]},
        {"size": "large"},
        {"max_seconds": 60},
        {"warmup": Warmup(("fetch",))},
    ],
    ids=lambda change: next(iter(change)),
)
def test_the_recipe_of_a_campaign_may_not_change(change: dict[str, Any]) -> None:
    settings = some_settings(sizes={"large": LARGE}, data_pvc="models")
    campaigns = [some_campaign(name) for name in ("maps", "letters")]
    now = is_now(some_pipeline(**change), *campaigns, settings=settings)
    before = was(some_pipeline(), *campaigns, settings=settings)
    [key] = change
    assert found(now, before) == [
        (
            "G003",
            "pipelines/ocr.yaml",
            at_key(key),
            f"{key} changed since HEAD, which has campaigns that run with it: letters, maps",
        )
    ]
    assert remedies(now, before) == [
        "put the old recipe back, and write the new one into a new file, for example "
        "pipelines/ocr-2.yaml"
    ]


def test_several_keys_and_many_campaigns_are_one_finding() -> None:
    campaigns = [some_campaign(f"c{number}") for number in range(1, 10)]
    changed = some_pipeline(args=("--best",), image=OTHER_IMAGE, ttl_seconds_after_finished=1)
    [(_, _, place, message)] = found(is_now(changed, *campaigns), was(*campaigns))
    assert place == at_key("image")
    assert message == (
        "image and args changed since HEAD, which has campaigns that run with it: "
        "c1, c2, c3, c4, c5, c6, c7, c8 and 1 more"
    )


@pytest.mark.parametrize(
    "change",
    [
        {"ttl_seconds_after_finished": 60},
        {"command": ("ocr",)},
        {"size": "large"},
        {"max_seconds": 21_600},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_recipe_that_comes_to_the_same_may_be_written_out(change: dict[str, Any]) -> None:
    settings = some_settings(sizes={"large": LARGE}, default_size="large")
    now = is_now(some_pipeline(**change), some_campaign(), settings=settings)
    assert found(now, was(some_campaign(), settings=settings)) == []


def test_a_recipe_that_no_earlier_campaign_uses_may_change() -> None:
    changed = some_pipeline(args=("--best",))
    assert found(is_now(changed, some_campaign()), was()) == []
    other, campaign = some_pipeline("tei"), some_campaign(pipeline="tei")
    assert found(is_now(changed, other, campaign), was(some_pipeline(), other, campaign)) == []
    # Another fault, which has a rule of its own.
    moved = is_now(changed, other, campaign)
    assert codes(moved, was(some_pipeline(), other, some_campaign())) == ["G002"]


def test_a_recipe_with_a_size_that_is_new_has_changed() -> None:
    now = is_now(
        some_pipeline(size="large"), some_campaign(), settings=some_settings(sizes={"large": LARGE})
    )
    [(code, _, _, message)] = found(now, was(some_campaign()))
    assert (code, message.partition(" changed ")[0]) == ("G003", "size")


@pytest.mark.parametrize(
    ("window", "limit", "volumes", "expected"),
    [
        ((8, 4), (20, 20), 10, ("campaigns/letters.yaml", "8", "4")),
        ((None, 4), (20, 20), 30, ("campaigns/letters.yaml", "20", "4")),
        ((30, 25), (20, 20), 40, None),
        ((8, 4), (20, 20), 4, None),
        ((8, 4), (20, 20), 5, ("campaigns/letters.yaml", "8", "4")),
        ((8, None), (20, 8), 10, None),
        ((None, None), (20, 10), 30, ("converter.yaml", "20", "10")),
        ((15, 15), (20, 10), 30, ("converter.yaml", "20", "10")),
        ((10, 10), (20, 10), 30, None),
        ((None, None), (20, 10), 10, None),
    ],
)
def test_the_window_of_a_campaign_that_may_run(
    window: tuple[int | None, int | None],
    limit: tuple[int, int],
    volumes: int,
    expected: Where | None,
) -> None:
    (then, now), (limit_then, limit_now) = window, limit
    listed = [f"v{number}" for number in range(volumes)]
    current = is_now(
        some_campaign(volumes=listed, window=now), settings=some_settings(window=limit_now)
    )
    before = was(
        some_campaign(volumes=listed, window=then), settings=some_settings(window=limit_then)
    )
    if expected is None:
        assert found(current, before) == []
        return
    path, old, new = expected
    [(code, at_path, place, message)] = found(current, before)
    assert (code, at_path, place) == ("G004", path, at("window"))
    assert message.startswith(f"the window was {old} in HEAD and is now {new}, and apply holds ")


def test_many_windows_that_the_settings_change_are_one_finding() -> None:
    volumes = [f"v{number}" for number in range(30)]
    campaigns = [some_campaign(f"c{number}", volumes) for number in range(3)]
    now = is_now(*campaigns, settings=some_settings(window=5))
    [(code, _, _, message)] = found(now, was(*campaigns))
    assert code == "G004"
    assert message.endswith("that run with another one: c0, c1, c2")


def test_each_part_of_a_long_campaign_has_the_window() -> None:
    """Two Jobs of 2 and 1 volumes: no window of more than 2 makes a difference to them."""
    volumes = [source(name, "x" * 400_000) for name in "abc"]
    now = is_now(some_campaign(volumes=volumes, window=2))
    assert found(now, was(some_campaign(volumes=volumes, window=20))) == []
    now = is_now(some_campaign(volumes=volumes, window=1))
    assert codes(now, was(some_campaign(volumes=volumes, window=20))) == ["G004"]


def test_the_window_of_a_paused_campaign_may_change() -> None:
    volumes = [f"v{number}" for number in range(30)]
    paused, running = (some_campaign(volumes=volumes, suspend=each) for each in (True, False))
    for now in (replace(paused, window=2), replace(running, window=2)):
        assert found(is_now(now), was(paused)) == []
    # All of it reaches apply at once, which finds it running.
    assert codes(is_now(replace(paused, window=2)), was(running)) == ["G004"]


def test_on_slurm_the_window_of_what_runs_may_change() -> None:
    slurm = some_settings(backend=Backend.SLURM, slurm=SlurmSettings("/shared", ()))
    campaign = some_campaign(volumes=[f"v{number}" for number in range(30)], window=20)
    now = is_now(replace(campaign, window=2), settings=slurm)
    assert codes(now, was(campaign, settings=slurm)) == []
    assert codes(is_now(replace(campaign, window=2)), was(campaign)) == ["G004"]


CHANGED_SETTINGS: dict[str, tuple[Any, Any]] = {
    "slurm": (SlurmSettings("/shared", ()), SlurmSettings("/shared", ("run", "{image}"))),
    "command": ((), ("ocr", "--best")),
    "env": ({"MODEL": "large"}, {"MODEL": "small"}),
    "sizes": ({"large": LARGE}, {"large": replace(LARGE, cpu="8")}),
    "default_size": ("large", "small"),
    "flavors": ((flavor("a100", {"gpu": "a100"}),), (flavor("a100", {"gpu": "A100"}),)),
    "node_selector": ({}, {"zone": "eu"}),
    "tolerations": ((), ({"key": "gpu"},)),
    "runtime_class": ("", "nvidia"),
    "max_seconds": (21_600, 60),
    "warmup": (Warmup(("fetch",)), Warmup(("fetch", "--all"))),
    "warmup_wait_seconds": (900, 60),
    "backoff_limit_per_index": (3, 0),
    "secrets": ({}, {"token": "/secrets/token"}),
    "data_pvc": ("models", "others"),
    "s3_secret": ("", "s3"),
    "results_url": ("", "https://results.example.org"),
    "manifest_max_bytes": (None, 1),
    "fetch_max_bytes": (None, 1),
    "image_cache": ("", "bucket"),
    "source_template": ("{ref}", "s3://{ref}"),
}
BEFORE = {
    "sizes": {"large": LARGE, "small": replace(LARGE, name="small", gpu=0)},
    "default_size": "large",
    "warmup": Warmup(("fetch",)),
    "data_pvc": "models",
}
WITH_FLAVOR = {"sizes": {"large": replace(LARGE, flavor="a100")}}


@pytest.mark.parametrize("key", CHANGED_SETTINGS)
def test_settings_that_reach_pods(key: str) -> None:
    old, new = CHANGED_SETTINGS[key]
    around = {**BEFORE, **(WITH_FLAVOR if key == "flavors" else {})}
    then, now = (some_settings(**{**around, key: each}) for each in (old, new))
    campaigns = [some_campaign(name) for name in ("maps", "letters")]
    current, before = is_now(*campaigns, settings=now), was(*campaigns, settings=then)
    assert found(current, before) == [
        (
            "G005",
            "converter.yaml",
            at_key(key),
            f"{key} changed since HEAD, for the pods of campaigns that are there already: "
            "letters, maps; apply holds them back until they have ended",
        )
    ]
    in_pipelines = ", or set it in a new file in pipelines/"
    can_be_there = key in ("command", "env", "max_seconds", "warmup")
    assert remedies(current, before) == [
        f"put it back until then{in_pipelines if can_be_there else ''}"
    ]


def test_every_setting_that_the_digest_of_the_inputs_covers_is_known() -> None:
    """Those of the test above; any other may change without changing the digest."""
    others: dict[str, Any] = {
        "namespace": "other",
        "queue": "other",
        "backend": Backend.NONE,
        "window": 1,
        "priority_classes": ("low",),
        "quota": {"cpu": "1"},
        "allow_image_tags": True,
        "ttl_seconds_after_finished": 1,
        "prune_limit": 1,
        "repository": "other",
        "reactivate": False,
        "apiserver_request_timeout": 1,
        "hf_token_secret": "token",
    }
    assert {*others, *CHANGED_SETTINGS} == {field.name for field in fields(Settings)}
    settings = some_settings(**BEFORE)
    digest = history_pods._pods(some_pipeline(), settings)
    for key, value in others.items():
        assert history_pods._pods(some_pipeline(), replace(settings, **{key: value})) == digest, key


@pytest.mark.parametrize(
    "key", ["priority_classes", "quota", "ttl_seconds_after_finished", "repository"]
)
def test_settings_that_may_change(key: str) -> None:
    value = {"priority_classes": ("low",), "quota": {"cpu": "1"}, "repository": "x"}.get(key, 1)
    now = is_now(some_campaign(), settings=some_settings(**{key: value}))
    assert found(now, was(some_campaign())) == []


def test_settings_that_a_pipeline_overrides_may_change() -> None:
    pipeline = some_pipeline(env={"MODEL": "large"}, max_seconds=60)
    changed = some_settings(env={"MODEL": "small"}, max_seconds=90)
    files = (pipeline, some_campaign())
    assert found(is_now(*files, settings=changed), was(*files)) == []


def test_a_size_that_no_campaign_uses_may_change() -> None:
    pipelines = (some_pipeline(), some_pipeline("tei", size="large"))
    then, now = (
        some_settings(sizes={"large": replace(LARGE, cpu=cpu)}, env={"X": cpu}) for cpu in "48"
    )
    current = is_now(*pipelines, some_campaign(), settings=now)
    [(_, _, place, message)] = found(current, was(*pipelines, some_campaign(), settings=then))
    assert place == at_key("env")
    assert message.startswith("env changed since HEAD")


def test_the_template_matters_to_bare_ids_alone() -> None:
    campaigns = (some_campaign("letters"), some_campaign("maps", [source("m", "s3://m")]))
    now = is_now(*campaigns, settings=some_settings(source_template="s3://{ref}"))
    [(_, _, _, message)] = found(now, was(*campaigns))
    assert "there already: letters; " in message


def test_a_change_of_both_files_that_comes_to_the_same_is_none() -> None:
    now = is_now(
        some_pipeline(max_seconds=21_600), some_campaign(), settings=some_settings(max_seconds=60)
    )
    assert found(now, was(some_campaign())) == []


def test_a_value_that_moves_from_a_pipeline_to_the_settings_may_change_with_both() -> None:
    then = was(some_pipeline(max_seconds=21_600), some_campaign())
    now = is_now(some_pipeline(), some_campaign(), settings=some_settings(max_seconds=60))
    assert codes(now, then) == ["G005"]


def test_a_size_of_another_name_is_a_change_of_the_recipe_alone() -> None:
    then, now = (some_settings(sizes={name: replace(LARGE, name=name)}) for name in ("old", "new"))
    current = is_now(some_pipeline(size="new"), some_campaign(), settings=now)
    before = was(some_pipeline(size="old"), some_campaign(), settings=then)
    assert [(code, place) for code, _, place, _ in found(current, before)] == [
        ("G003", at_key("size"))
    ]


def test_each_file_is_blamed_for_its_own_change() -> None:
    now = is_now(
        some_pipeline(args=("--best",)), some_campaign(), settings=some_settings(env={"X": "1"})
    )
    assert [(code, place) for code, _, place, _ in found(now, was(some_campaign()))] == [
        ("G005", at_key("env")),
        ("G003", at_key("args")),
    ]


def test_the_queue_of_campaigns_that_may_run() -> None:
    campaigns = (some_campaign("letters"), some_campaign("maps", suspend=True))
    now = is_now(*campaigns, settings=some_settings(queue="other"))
    message = (
        'the queue was "campaigns" in HEAD and is now "other", and apply holds campaigns back that '
        "run in the old one: letters"
    )
    expected = [("G005", "converter.yaml", at("queue"), message)]
    assert found(now, was(*campaigns)) == expected
    assert found(now, was(campaigns[1])) == []


@pytest.mark.parametrize(
    "pipeline", [some_pipeline(size="none"), some_pipeline(size="bad")], ids=["unknown", "bad"]
)
def test_a_recipe_that_breaks_other_rules_is_left_to_them(pipeline: Pipeline) -> None:
    settings = some_settings(sizes={"bad": replace(LARGE, name="bad", cpu="many")})
    now = is_now(pipeline, some_campaign(), settings=settings)
    assert found(now, was(some_campaign(), settings=settings)) == []
    now = is_now(some_campaign(), settings=settings)
    assert found(now, was(pipeline, some_campaign(), settings=settings)) == []


def test_broken_settings_leave_the_rules_that_need_none() -> None:
    campaign = some_campaign(volumes=["a", "b"], window=1)
    now = loaded(campaign, some_pipeline(args=("x",)), settings=None)
    then = was(some_campaign(volumes=["a"]))
    assert codes(now, then) == ["G001"]
    assert codes(is_now(campaign), replace(then, settings=None)) == ["G001"]


def test_without_a_commit_none_of_these_rules_looks() -> None:
    assert check(is_now(some_campaign())) == ()


def test_a_name_for_a_new_file_is_free() -> None:
    taken = ["campaigns/a.yaml", "campaigns/a-2.yaml"]
    assert free_name("campaigns/a.yaml", iter(taken)) == "campaigns/a-3.yaml"


HEADING = re.compile(r"^# (before: )?(\S+\.yaml)\n", re.MULTILINE)
REST = {
    "converter.yaml": "namespace: campaigns\nqueue: campaigns\n",
    "pipelines/ocr.yaml": f"image: {DIGEST}\ncommand: [ocr]\n",
    "pipelines/tei.yaml": f"image: {DIGEST}\ncommand: [tei]\n",
}


def sections(snippet: str) -> Iterator[tuple[str, str, str]]:
    _, *parts = HEADING.split(snippet)
    yield from zip(parts[::3], parts[1::3], parts[2::3], strict=True)


def compared(root: Path, snippet: str) -> list[str]:
    """Codes of the problems of a snippet, whose earlier files are headed ``# before: PATH``."""
    files: dict[bool, Mapping[str, str]] = {
        bool(before): {
            path: text + (REST[path] if path == "converter.yaml" else "")
            for mark, path, text in sections(snippet)
            if bool(mark) == bool(before)
        }
        for before in (True, False)
    }
    now = {**REST, **files[False]}
    for path, text in now.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    then = {path: text.encode() for path, text in files[True].items()}
    new = {path: None for path in files[False] if path not in then}
    repository = load_repo(root)
    commit = earlier(repository, "HEAD", {**new, **then}, frozenset())
    return [problem.code for problem in check(repository, earlier=commit)]


@pytest.mark.parametrize("rule", HISTORY, ids=lambda rule: rule.code)
def test_the_wrong_example_breaks_its_rule_and_no_other(rule: Rule, tmp_path: Path) -> None:
    assert compared(tmp_path, rule.wrong) == [rule.code]


@pytest.mark.parametrize("rule", HISTORY, ids=lambda rule: rule.code)
def test_the_right_example_breaks_no_rule(rule: Rule, tmp_path: Path) -> None:
    assert compared(tmp_path, rule.right) == []
