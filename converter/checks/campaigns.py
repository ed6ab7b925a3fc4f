"""Rules about what a campaign names: its pipeline, its priority and its windows."""

from collections.abc import Iterator

from converter.checks.registry import Finding, Known, rule, settings_rule
from converter.checks.wording import instead
from converter.load.result import LoadResult
from converter.load.wording import quoted
from converter.model import Backend
from converter.rule import Rule


@rule(
    Rule(
        code="C005",
        name="unknown-pipeline",
        what="A campaign's pipeline is a file in pipelines/.",
        why="Without a pipeline there is nothing to run.",
        wrong="# campaigns/letters.yaml\npipeline: orc\nvolumes: [letters-1871]\n",
        right="# campaigns/letters.yaml\npipeline: ocr\nvolumes: [letters-1871]\n",
        since="0.1.0",
    )
)
def _unknown_pipeline(loaded: LoadResult) -> Iterator[Finding]:
    for campaign in loaded.campaigns.values():
        unread = loaded.broken & {"pipelines", f"pipelines/{campaign.pipeline}.yaml"}
        if campaign.pipeline not in loaded.pipelines and not unread:
            yield Finding(
                campaign.path,
                ("pipeline",),
                f"there is no pipeline {quoted(campaign.pipeline)}",
                instead(campaign.pipeline, loaded.pipelines.keys(), "write a file in pipelines/"),
            )


@settings_rule(
    Rule(
        code="C006",
        name="unknown-priority",
        what="A campaign's priority is one of converter.yaml's priority_classes.",
        why="Kueue makes no Workload for a Job whose WorkloadPriorityClass does not exist, and "
        "says so nowhere: the Job stays suspended for ever.",
        wrong="# converter.yaml\npriority_classes: [urgent, bulk]\n"
        "# campaigns/letters.yaml\npipeline: ocr\npriority: urgnt\nvolumes: [letters-1871]\n",
        right="# converter.yaml\npriority_classes: [urgent, bulk]\n"
        "# campaigns/letters.yaml\npipeline: ocr\npriority: urgent\nvolumes: [letters-1871]\n",
        since="0.1.0",
    )
)
def _unknown_priority(known: Known) -> Iterator[Finding]:
    classes = known.settings.priority_classes
    otherwise = f"take it out, or {_where_priorities_are(known.settings.backend)}"
    for campaign in known.campaigns.values():
        if campaign.priority and campaign.priority not in classes:
            yield Finding(
                campaign.path,
                ("priority",),
                f"priority {quoted(campaign.priority)} is not one of converter.yaml's "
                "priority_classes",
                instead(campaign.priority, classes, otherwise),
            )


def _where_priorities_are(backend: Backend) -> str:
    """What to do for a new one. Kueue has its own; without it they are those of the pods."""
    if backend is Backend.SLURM:
        return "add it to priority_classes and to slurm.priorities"
    kind = "WorkloadPriorityClass" if backend is Backend.KUEUE else "PriorityClass"
    return f"list the {kind} in priority_classes"


@settings_rule(
    Rule(
        code="C007",
        name="min-window",
        what="A campaign's min_window is at most its window and converter.yaml's.",
        why="Kueue refuses a Job that must start with more pods than it runs at once "
        "(annotation kueue.x-k8s.io/job-min-parallelism).",
        wrong="# campaigns/letters.yaml\npipeline: ocr\nwindow: 2\nmin_window: 4\n"
        "volumes: [letters-1871, letters-1872, letters-1873, letters-1874]\n",
        right="# campaigns/letters.yaml\npipeline: ocr\nwindow: 4\nmin_window: 2\n"
        "volumes: [letters-1871, letters-1872, letters-1873, letters-1874]\n",
        since="0.1.0",
    )
)
def _min_window(known: Known) -> Iterator[Finding]:
    for campaign in known.campaigns.values():
        if campaign.min_window is None:
            continue
        limit, what = known.settings.window, "converter.yaml's window"
        if campaign.window is not None and campaign.window <= limit:
            limit, what = campaign.window, "its window"
        if campaign.min_window > limit:
            yield Finding(
                campaign.path,
                ("min_window",),
                f"min_window {campaign.min_window} is more than {what}, {limit}",
                f"write {limit} or less",
            )
