"""Rules about changes that would reach the pods of campaigns that a commit has.

What they are made from is compared as apply compares it: by the digests that are rendered. A change
that comes to the same, such as a value written out that was the default, is none.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from converter.checks.history import AFTER, BEFORE, free_name
from converter.checks.registry import Finding, history_rule
from converter.checks.wording import EXAMPLE_IMAGE
from converter.load.earlier import Earlier
from converter.load.files import SETTINGS_FILE
from converter.load.result import LoadResult
from converter.load.wording import listed, quoted
from converter.model import Backend, Campaign, Pipeline, Settings, SourceKind
from converter.problem import Level
from converter.rule import Rule
from converter.split import Part
from converter.wording import first_few

# Keys of the files that reach the pods, in the order in which messages name them.
_OF_RECIPE: Final = (
    "image",
    "command",
    "args",
    "env",
    "steps",
    "size",
    "max_seconds",
    "max_execution_seconds",
    "warmup",
)
_OF_SETTINGS: Final = (
    "slurm",
    "command",
    "env",
    "sizes",
    "default_size",
    "flavors",
    "node_selector",
    "tolerations",
    "runtime_class",
    "max_seconds",
    "warmup",
    "warmup_wait_seconds",
    "backoff_limit_per_index",
    "secrets",
    "data_pvc",
    "s3_secret",
    "results_url",
    "manifest_max_bytes",
    "fetch_max_bytes",
    "image_cache",
)
_TEMPLATE: Final = "source_template"
_NO_VOLUMES: Final = Part("", 1, (), 1)
_OCR: Final = f"image: {EXAMPLE_IMAGE}\ncommand: [ocr, --fast]\n"
_OTHER: Final = f"image: {EXAMPLE_IMAGE}\ncommand: [ocr, --best]\n"
_MODEL: Final = "env:\n  MODEL: {}\n"


@history_rule(
    Rule(
        code="G003",
        name="changed-recipe",
        what="A pipeline keeps what its pods are made from once git has a campaign that names it; "
        "ttl_seconds_after_finished may change.",
        why="Half of the volumes would be processed one way and half the other. apply holds the "
        "pipeline and its campaigns back until they have ended.",
        wrong=f"# before: pipelines/ocr.yaml\n{_OCR}{BEFORE}# pipelines/ocr.yaml\n{_OTHER}{AFTER}",
        right=f"# before: pipelines/ocr.yaml\n{_OCR}{BEFORE}"
        f"# pipelines/ocr.yaml\n{_OCR}{AFTER}# pipelines/ocr-2.yaml\n{_OTHER}",
        since="0.1.0",
        ignorable=True,
    )
)
def _changed_recipe(loaded: LoadResult, earlier: Earlier) -> Iterator[Finding]:
    for name, blamed in _blamed(loaded, earlier).items():
        users = _users(name, loaded, earlier)
        if not users or not blamed.pipeline:
            continue
        now, was = loaded.pipelines[name], earlier.pipelines[name]
        keys = [key for key in _OF_RECIPE if getattr(now, key) != getattr(was, key)]
        yield Finding(
            now.path,
            (keys[0],),
            f"{listed(keys)} changed since {earlier.commit}, which has campaigns that run with "
            f"it: {first_few(users)}",
            "put the old recipe back, and write the new one into a new file, for example "
            f"{free_name(now.path, (each.path for each in loaded.pipelines.values()))}",
            at_key=True,
        )


@history_rule(
    Rule(
        code="G005",
        name="changed-settings",
        what="What converter.yaml gives to pods, and their queue, does not change while campaigns "
        "that git has already may run.",
        why="The pods of a live Job cannot change, and a Job that runs stays in its queue, so "
        "apply holds these campaigns back until they have ended.",
        wrong=f"# before: converter.yaml\n{_MODEL.format('large')}{BEFORE}"
        f"# converter.yaml\n{_MODEL.format('small')}{AFTER}",
        right=f"# before: converter.yaml\n{_MODEL.format('large')}{BEFORE}"
        f"# converter.yaml\n{_MODEL.format('large')}{AFTER}"
        f"# pipelines/ocr-small.yaml\n{_OCR}{_MODEL.format('small')}",
        since="0.1.0",
        level=Level.WARNING,
        ignorable=True,
    )
)
def _changed_settings(loaded: LoadResult, earlier: Earlier) -> Iterator[Finding]:
    now, was = loaded.settings, earlier.settings
    if now is not None and was is not None and now != was:
        yield from _reaching_pods(loaded, earlier, now, was)
        yield from _queue(earlier, now, was)


def _reaching_pods(
    loaded: LoadResult, earlier: Earlier, now: Settings, was: Settings
) -> Iterator[Finding]:
    keys: set[str] = set()
    users: set[str] = set()
    for name, blamed in _blamed(loaded, earlier).items():
        if blamed.settings and (found := _users(name, loaded, earlier)):
            keys |= blamed.settings
            users.update(found)
    if now.source_template != was.source_template:
        named = {each.name for each in _existing(loaded, earlier) if _has_template(each)}
        keys |= {_TEMPLATE} if named else set()
        users |= named
    if users:
        ordered = [key for key in (*_OF_SETTINGS, _TEMPLATE) if key in keys]
        yield Finding(
            SETTINGS_FILE,
            (ordered[0],),
            f"{listed(ordered)} changed since {earlier.commit}, for the pods of campaigns that are "
            f"there already: {first_few(sorted(users))}; apply holds them back until they have "
            "ended",
            "put it back until then"
            + (", or set it in a new file in pipelines/" if keys <= set(_OF_RECIPE) else ""),
            at_key=True,
        )


def _queue(earlier: Earlier, now: Settings, was: Settings) -> Iterator[Finding]:
    may_run = [name for name, campaign in sorted(earlier.campaigns.items()) if not campaign.suspend]
    if now.queue != was.queue and may_run and now.backend is was.backend is Backend.KUEUE:
        yield Finding(
            SETTINGS_FILE,
            ("queue",),
            f"the queue was {quoted(was.queue)} in {earlier.commit} and is now "
            f"{quoted(now.queue)}, and apply holds campaigns back that run in the old one: "
            f"{first_few(may_run)}",
            "pause the campaigns that run before you change it, or wait until they have ended",
        )


@dataclass(frozen=True, slots=True)
class _Blamed:
    """What changed the pods of a pipeline: its file, or these keys of converter.yaml, or both."""

    pipeline: bool
    settings: frozenset[str]


def _blamed(loaded: LoadResult, earlier: Earlier) -> Mapping[str, _Blamed]:
    """By pipeline whose pods are not made from what they were made from."""
    now, was = loaded.settings, earlier.settings
    if now is None or was is None:
        return {}
    both = {name: (earlier.pipelines[name], loaded.pipelines[name]) for name in earlier.pipelines}
    return {
        name: blamed
        for name, (old, new) in both.items()
        if (old != new or was != now) and (blamed := _blame(old, new, was, now)) is not None
    }


def _blame(old: Pipeline, new: Pipeline, was: Settings, now: Settings) -> _Blamed | None:
    before, after = _pods(old, was), _pods(new, now)
    if before == after or not before or not after:
        return None
    by_pipeline = _pods(new, was) != before
    by_settings = _pods(old, now) not in ("", before) or not by_pipeline
    return _Blamed(by_pipeline, _keys(old, was, now) if by_settings else frozenset())


def _keys(pipeline: Pipeline, was: Settings, now: Settings) -> frozenset[str]:
    """The keys of which each alone changes the pods; else all that might together."""
    other = [key for key in _OF_SETTINGS if getattr(was, key) != getattr(now, key)]
    before = _pods(pipeline, was)
    alone = [
        key
        for key in other
        if _pods(pipeline, replace(was, **{key: getattr(now, key)})) not in ("", before)
    ]
    return frozenset(alone or other)


def _pods(pipeline: Pipeline, settings: Settings) -> str:
    """A digest of what the pods are made from, but for volumes; empty where a size is unknown."""
    # Only where something changed that may reach them, since nothing else needs it.
    from converter.render.inputs import inputs_digest
    from converter.render.recipe import recipe_of

    try:
        return inputs_digest(_NO_VOLUMES, recipe_of(pipeline, settings), settings)
    except (LookupError, StopIteration, ValueError):
        # A size or a flavor that is not there, an amount that is none: other rules say so.
        return ""


def _users(pipeline: str, loaded: LoadResult, earlier: Earlier) -> list[str]:
    """Campaigns that named the pipeline at the commit, and still do."""
    return [
        campaign.name
        for campaign in _existing(loaded, earlier)
        if earlier.campaigns[campaign.name].pipeline == campaign.pipeline == pipeline
    ]


def _existing(loaded: LoadResult, earlier: Earlier) -> list[Campaign]:
    return [loaded.campaigns[name] for name in sorted(earlier.campaigns)]


def _has_template(campaign: Campaign) -> bool:
    return any(volume.kind is SourceKind.REFERENCE for volume in campaign.volumes)
