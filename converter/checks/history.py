"""Rules about what may no longer change of a campaign that a commit has: it may run already.

That is for apply to see on the cluster. Here the campaign is taken for one that was applied.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from converter.capabilities import CAPABILITIES
from converter.checks.registry import Finding, history_rule
from converter.load.earlier import CAMPAIGNS, Earlier
from converter.load.files import SETTINGS_FILE
from converter.load.result import LoadResult
from converter.load.wording import listed, quoted
from converter.model import Campaign, Settings, Volume
from converter.problem import Level
from converter.rule import Rule
from converter.split import split, window_of
from converter.wording import first_few

BEFORE: Final = "# before: campaigns/letters.yaml\npipeline: ocr\nvolumes: [letters-1871]\n"
AFTER: Final = "# campaigns/letters.yaml\npipeline: ocr\nvolumes: [letters-1871]\n"
_WINDOW: Final = "pipeline: ocr\nvolumes: [a, b, c, d, e, f, g, h]\n"


@history_rule(
    Rule(
        code="G001",
        name="changed-volumes",
        what="A campaign that is in git already keeps its list of volumes: ids, sources, env and "
        "order.",
        why="Each index of its Job stands for one volume, so apply refuses another list for good, "
        "also when the campaign has ended. One that was never applied may change.",
        wrong=f"{BEFORE}"
        "# campaigns/letters.yaml\npipeline: ocr\nvolumes: [letters-1871, letters-1872]\n",
        right=f"{BEFORE}{AFTER}"
        "# campaigns/letters-2.yaml\npipeline: ocr\nvolumes: [letters-1872]\n",
        since="0.1.0",
        ignorable=True,
    )
)
def _changed_volumes(loaded: LoadResult, earlier: Earlier) -> Iterator[Finding]:
    for name, was in earlier.campaigns.items():
        now = loaded.campaigns[name]
        if now.volumes == was.volumes:
            continue
        first = _first_difference(was.volumes, now.volumes)
        is_shorter = first == len(now.volumes)
        yield Finding(
            now.path,
            ("volumes",) if is_shorter else ("volumes", first),
            f"the list of volumes is not that of {earlier.commit}: "
            f"{_difference(was.volumes, now.volumes)}",
            "put the old list back, and write new work into a new file, for example "
            f"{_new_file(now.path, loaded)}",
            at_key=is_shorter,
        )


@history_rule(
    Rule(
        code="G002",
        name="changed-campaign-pipeline",
        what="A campaign that is in git already keeps its pipeline.",
        why="A part of its volumes may be done with the old one. apply refuses the change for "
        "good, also when the campaign has ended. One that was never applied may change.",
        wrong=f"{BEFORE}# campaigns/letters.yaml\npipeline: tei\nvolumes: [letters-1871]\n",
        right=f"{BEFORE}{AFTER}"
        "# campaigns/letters-tei.yaml\npipeline: tei\nvolumes: [letters-1871]\n",
        since="0.1.0",
        ignorable=True,
    )
)
def _changed_campaign_pipeline(loaded: LoadResult, earlier: Earlier) -> Iterator[Finding]:
    for name, was in earlier.campaigns.items():
        now = loaded.campaigns[name]
        if now.pipeline != was.pipeline:
            yield Finding(
                now.path,
                ("pipeline",),
                f"the pipeline was {quoted(was.pipeline)} in {earlier.commit}, and is now "
                f"{quoted(now.pipeline)}",
                f"write {was.pipeline} again, and a new file for the other pipeline, for example "
                f"{_new_file(now.path, loaded)}",
            )


@history_rule(
    Rule(
        code="G004",
        name="changed-window",
        what="The window of a campaign that is in git already, and not paused there, does not "
        "change.",
        why="Kueue stops every pod of a running Job whose parallelism changes, and queues it "
        "again, so apply holds the campaign back. A campaign that waits in the queue or is paused "
        "may change, and so may one whose window still has room for all of its volumes, and any "
        "with Slurm.",
        wrong=f"# before: campaigns/letters.yaml\nwindow: 8\n{_WINDOW}"
        f"# campaigns/letters.yaml\nwindow: 4\n{_WINDOW}",
        right=f"# before: campaigns/letters.yaml\nwindow: 8\nsuspend: true\n{_WINDOW}"
        f"# campaigns/letters.yaml\nwindow: 4\nsuspend: true\n{_WINDOW}",
        since="0.1.0",
        level=Level.WARNING,
        ignorable=True,
    )
)
def _changed_window(loaded: LoadResult, earlier: Earlier) -> Iterator[Finding]:
    if loaded.settings is None or earlier.settings is None:
        return
    if CAPABILITIES[loaded.settings.backend].live_window:
        return
    by_settings: list[str] = []
    for name, was in sorted(earlier.campaigns.items()):
        now = loaded.campaigns[name]
        before, after = window_of(was, earlier.settings), window_of(now, loaded.settings)
        if was.suspend or not _is_another_number(before, after, now, loaded.settings):
            continue
        if now.window == was.window:
            by_settings.append(name)
            continue
        yield Finding(
            now.path,
            ("window",),
            f"the window was {before} in {earlier.commit} and is now {after}, and apply holds the "
            "campaign back while it runs",
            "if it runs, set suspend: true and apply, change the window and apply, then take "
            "suspend out",
        )
    if by_settings:
        yield Finding(
            SETTINGS_FILE,
            ("window",),
            f"the window was {earlier.settings.window} in {earlier.commit} and is now "
            f"{loaded.settings.window}, and apply holds campaigns back that run with another one: "
            f"{first_few(by_settings)}",
            f"write window: {earlier.settings.window}, or pause the campaigns that run before "
            "you change it",
        )


@history_rule(
    Rule(
        code="G006",
        name="renamed-campaign",
        what="The volumes of a campaign that leaves git are in no new campaign of its pipeline.",
        why="A campaign is known by the name of its file. With --prune apply cancels the one and "
        "forgets what it has done, also where it has ended, and the other does all of it again.",
        wrong=f"{BEFORE}# campaigns/letters-of-1871.yaml\npipeline: ocr\nvolumes: [letters-1871]\n",
        right=f"{BEFORE}{AFTER}",
        since="0.1.0",
        ignorable=True,
    )
)
def _renamed_campaign(loaded: LoadResult, earlier: Earlier) -> Iterator[Finding]:
    if not earlier.gone:
        return
    for name in loaded.campaigns:
        if name in earlier.campaigns:
            continue
        now = loaded.campaigns[name]
        for was in earlier.gone.values():
            ids = {volume.id for volume in was.volumes} if was.pipeline == now.pipeline else ()
            shared = [index for index, volume in enumerate(now.volumes) if volume.id in ids]
            if shared:
                yield Finding(
                    now.path,
                    ("volumes", shared[0], "id"),
                    f"{first_few(now.volumes[index].id for index in shared)} "
                    f"{'were' if len(shared) > 1 else 'was'} in {was.path} in {earlier.commit}, "
                    "which is gone: apply --prune cancels that campaign, and this one starts over",
                    f"give the file its name back, {was.path}, or leave out here what is done",
                )


def _first_difference(was: Sequence[Volume], now: Sequence[Volume]) -> int:
    """The index; that after the last of `now` where it only lacks some at the end."""
    pairs = enumerate(zip(was, now, strict=False))
    return next((index for index, (old, new) in pairs if old != new), min(len(was), len(now)))


def _difference(was: Sequence[Volume], now: Sequence[Volume]) -> str:
    """In numbers, for example ``2 added and 1 removed``."""
    old, new = Counter(each.id for each in was), Counter(each.id for each in now)
    before = {each.id: each for each in was}
    counts = {
        "added": (new - old).total(),
        "removed": (old - new).total(),
        "changed": sum(each.id in before and before[each.id] != each for each in now),
    }
    said = [f"{count} {word}" for word, count in counts.items() if count]
    return listed(said) if said else "its order changed"


def _new_file(path: str, loaded: LoadResult) -> str:
    return free_name(path, (f"{CAMPAIGNS}/{name}.yaml" for name in loaded.campaigns))


def free_name(path: str, taken: Iterable[str]) -> str:
    """A file that is not there yet: ``campaigns/letters-2.yaml`` for ``campaigns/letters.yaml``."""
    stem, known = path.removesuffix(".yaml"), set(taken)
    number = 2
    while f"{stem}-{number}.yaml" in known:
        number += 1
    return f"{stem}-{number}.yaml"


def _is_another_number(before: int, after: int, campaign: Campaign, settings: Settings) -> bool:
    """Whether the largest of its Jobs, which all have the same window, has room for other pods."""
    if before == after or len(campaign.volumes) <= min(before, after):
        return False
    return max(len(part.volumes) for part in split(campaign, settings)) > min(before, after)
