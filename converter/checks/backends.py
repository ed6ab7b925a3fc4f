"""What the files ask of a backend that cannot do it."""

from collections.abc import Iterator

from converter.capabilities import CAPABILITIES
from converter.checks.registry import Finding, Known, settings_rule
from converter.model import Backend
from converter.rule import Rule


@settings_rule(
    Rule(
        code="S019",
        name="beyond-backend",
        what="Files ask of the backend only what it can do: min_window of kueue, and "
        "max_execution_seconds of kueue and koord-queue.",
        why="Nothing would come of it. A campaign that should start with fewer pods would wait for "
        "all of them, and one that should be stopped after a week would run on.",
        wrong="# converter.yaml\nbackend: none\n# campaigns/letters.yaml\npipeline: ocr\n"
        "window: 4\nmin_window: 2\nvolumes: [a, b, c, d]\n",
        right="# converter.yaml\nbackend: none\n# campaigns/letters.yaml\npipeline: ocr\n"
        "window: 4\nvolumes: [a, b, c, d]\n",
        since="0.1.0",
    )
)
def _beyond_backend(known: Known) -> Iterator[Finding]:
    backend = known.settings.backend
    able = CAPABILITIES[backend]
    if not able.partial_admission:
        for campaign in known.campaigns.values():
            if campaign.min_window is not None:
                yield Finding(
                    campaign.path,
                    ("min_window",),
                    *_no_min_window(backend),
                    at_key=True,
                )
    if not able.execution_time:
        for pipeline in known.pipelines.values():
            if pipeline.max_execution_seconds is not None:
                yield Finding(
                    pipeline.path,
                    ("max_execution_seconds",),
                    f"backend {backend} stops no campaign after a time",
                    "take max_execution_seconds out; max_seconds is the time of one volume",
                    at_key=True,
                )


def _no_min_window(backend: Backend) -> tuple[str, str]:
    if backend is Backend.SLURM:
        return (
            "backend slurm starts each volume by itself, as soon as there is room for it",
            "take min_window out",
        )
    return (
        f"backend {backend} starts no campaign with fewer pods than its window",
        "take min_window out, and write the window that it can start with",
    )
