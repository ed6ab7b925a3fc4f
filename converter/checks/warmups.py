"""Rules about warm-ups, which fill a model cache before a campaign's pods read it."""

from collections.abc import Iterator
from typing import Final

from converter.checks.registry import Finding, Known, kubernetes_rule
from converter.checks.wording import EXAMPLE_IMAGE
from converter.layout import GATE_MARGIN
from converter.load.files import SETTINGS_FILE
from converter.problem import Level
from converter.rule import Rule

_PIPELINE = f"# pipelines/ocr.yaml\nimage: {EXAMPLE_IMAGE}\ncommand: [ocr]\n"
_WARMUP = "warmup: {command: [ocr, --fetch]}\n"
_NO_CACHE: Final = (
    "a warm-up needs data_pvc in converter.yaml, and there is none",
    "write data_pvc: <PersistentVolumeClaim of the model cache>, or take the warm-up out",
)


@kubernetes_rule(
    Rule(
        code="P006",
        name="warmup-without-cache",
        what="A pipeline with a warm-up has a model cache: data_pvc in converter.yaml.",
        why="The warm-up would have nowhere to put what it fetches. A warmup in converter.yaml "
        "needs one by itself (S016).",
        wrong=f"{_PIPELINE}{_WARMUP}",
        right=f"# converter.yaml\ndata_pvc: models\n{_PIPELINE}{_WARMUP}",
        since="0.1.0",
    )
)
def _warmup_without_cache(known: Known) -> Iterator[Finding]:
    if known.settings.data_pvc or known.settings.warmup is not None:
        return
    for pipeline in known.pipelines.values():
        if pipeline.warmup is not None:
            yield Finding(pipeline.path, ("warmup",), *_NO_CACHE, at_key=True)


@kubernetes_rule(
    Rule(
        code="S016",
        name="default-warmup-without-cache",
        what="A warmup in converter.yaml has a model cache: data_pvc.",
        why="The warm-ups would have nowhere to put what they fetch.",
        wrong=f"# converter.yaml\n{_WARMUP}",
        right=f"# converter.yaml\ndata_pvc: models\n{_WARMUP}",
        since="0.1.0",
    )
)
def _default_warmup_without_cache(known: Known) -> Iterator[Finding]:
    if known.settings.warmup is not None and not known.settings.data_pvc:
        yield Finding(SETTINGS_FILE, ("warmup",), *_NO_CACHE, at_key=True)


@kubernetes_rule(
    Rule(
        code="P007",
        name="warmup-without-command",
        what="A warm-up has a command, its own or that of converter.yaml's warmup.",
        why="args alone do not say what to run.",
        wrong=f"# converter.yaml\ndata_pvc: models\n{_PIPELINE}warmup: {{args: [--fetch]}}\n",
        right=f"# converter.yaml\ndata_pvc: models\n{_PIPELINE}{_WARMUP}",
        since="0.1.0",
    )
)
def _warmup_without_command(known: Known) -> Iterator[Finding]:
    default = known.settings.warmup
    for pipeline in known.pipelines.values():
        if pipeline.warmup is None or pipeline.warmup.command or (default and default.command):
            continue
        yield Finding(
            pipeline.path,
            ("warmup",),
            "the warm-up has no command, and converter.yaml has no warmup",
            "write command in it, for example command: [python, -m, ocr.fetch]",
            at_key=True,
        )


@kubernetes_rule(
    Rule(
        code="P008",
        name="no-time-for-warmup",
        what=f"A pipeline with a warm-up has max_seconds above {GATE_MARGIN}.",
        why="A pod waits for the warm-up until "
        f"{GATE_MARGIN} seconds before its own end. With fewer it would fail at once unless the "
        "cache is filled already.",
        wrong=f"# converter.yaml\ndata_pvc: models\n{_PIPELINE}{_WARMUP}max_seconds: 10\n",
        right=f"# converter.yaml\ndata_pvc: models\n{_PIPELINE}{_WARMUP}max_seconds: 3600\n",
        since="0.1.0",
    )
)
def _no_time_for_warmup(known: Known) -> Iterator[Finding]:
    for path, seconds in _deadlines(known):
        if seconds <= GATE_MARGIN:
            yield Finding(
                path,
                ("max_seconds",),
                f"max_seconds {seconds} leaves a pod no time to wait for the warm-up",
                f"write more than {GATE_MARGIN}",
            )


@kubernetes_rule(
    Rule(
        code="P009",
        name="little-time-after-warmup",
        what="A pipeline with a warm-up has a max_seconds above converter.yaml's "
        "warmup_wait_seconds.",
        why=f"max_seconds counts the wait too. A pod that waits for long would have {GATE_MARGIN} "
        "seconds left for its volume, and be tried again.",
        wrong="# converter.yaml\ndata_pvc: models\nwarmup_wait_seconds: 900\n"
        f"{_PIPELINE}{_WARMUP}max_seconds: 600\n",
        right="# converter.yaml\ndata_pvc: models\nwarmup_wait_seconds: 900\n"
        f"{_PIPELINE}{_WARMUP}max_seconds: 3600\n",
        since="0.1.0",
        level=Level.WARNING,
        ignorable=True,
    )
)
def _little_time_after_warmup(known: Known) -> Iterator[Finding]:
    wait = known.settings.warmup_wait_seconds
    for path, seconds in _deadlines(known):
        if GATE_MARGIN < seconds <= wait:
            yield Finding(
                path,
                ("max_seconds",),
                f"of max_seconds {seconds} a pod may wait {seconds - GATE_MARGIN} for the warm-up",
                f"write more than warmup_wait_seconds, {wait}",
            )


def _deadlines(known: Known) -> Iterator[tuple[str, int]]:
    """Of each pipeline with a warm-up: max_seconds, and the file that says it."""
    for pipeline in known.pipelines.values():
        if pipeline.warmup is None and known.settings.warmup is None:
            continue
        if pipeline.max_seconds is None:
            yield SETTINGS_FILE, known.settings.max_seconds
        else:
            yield pipeline.path, pipeline.max_seconds
