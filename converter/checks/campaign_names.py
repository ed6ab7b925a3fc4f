"""Rules about the names of campaigns: a file's stem becomes the name of a Job and of its pods."""

from collections.abc import Iterator

from converter.checks.registry import Finding, Known, kubernetes_rule, rule, settings_rule
from converter.load.result import LoadResult
from converter.load.wording import quoted
from converter.model import Backend
from converter.names import (
    DNS_LABEL,
    MAX_LABEL,
    PART_SUFFIX,
    STATUS_SUFFIX,
    WARMUP_PREFIX,
    campaign_configmap,
)
from converter.rule import Rule
from converter.split import NAME_LENGTH

_CAMPAIGN = "pipeline: ocr\nvolumes: [letters-1871]\n"


@rule(
    Rule(
        code="C001",
        name="campaign-name",
        what="A campaign's file name, without .yaml, is a DNS label.",
        why="It becomes the name of a Job and the start of each pod's host name. The API server "
        "refuses a Job whose name has upper case or an underscore in it; one with a dot is "
        "accepted and then creates no pods.",
        wrong=f"# campaigns/Letters_1871.yaml\n{_CAMPAIGN}",
        right=f"# campaigns/letters-1871.yaml\n{_CAMPAIGN}",
        since="0.1.0",
    )
)
def _campaign_name(loaded: LoadResult) -> Iterator[Finding]:
    for campaign in loaded.campaigns.values():
        if not DNS_LABEL.match(campaign.name):
            yield Finding(
                campaign.path,
                None,
                f"{quoted(campaign.name)} cannot be the name of a campaign",
                f"name the file with a-z, 0-9 and -, at most {MAX_LABEL} characters, "
                "the first and the last no -",
            )


@rule(
    Rule(
        code="C002",
        name="reserved-campaign-name",
        what="A campaign's name does not start with warmup- nor end in -status or -part<N>.",
        why="These are the names of a pipeline's warm-up Job, of the record of how a campaign "
        "ended, and of the parts of a campaign that is split. Two objects would share a name.",
        wrong=f"# campaigns/letters-part2.yaml\n{_CAMPAIGN}",
        right=f"# campaigns/letters-second.yaml\n{_CAMPAIGN}",
        since="0.1.0",
    )
)
def _reserved_campaign_name(loaded: LoadResult) -> Iterator[Finding]:
    for campaign in loaded.campaigns.values():
        if taken := reserved(campaign.name):
            yield Finding(
                campaign.path,
                None,
                f"a campaign's name cannot {taken}: campaigns gives such names to its own objects",
                "rename the file",
            )


def reserved(name: str) -> str:
    """What a campaign's name cannot do and this one does; empty if nothing."""
    if name.startswith(WARMUP_PREFIX):
        return f"start with {WARMUP_PREFIX}"
    if name.endswith(STATUS_SUFFIX):
        return f"end in {STATUS_SUFFIX}"
    found = PART_SUFFIX.search(name)
    return f"end in {found[0]}" if found else ""


@kubernetes_rule(
    Rule(
        code="C003",
        name="campaign-name-too-long",
        what="The name of a campaign's last pod, <job>-<index>, has at most 63 characters.",
        why="A pod of an Indexed Job has its own name as its host name, and a host name is a DNS "
        "label. The more volumes, the longer the last index: the first pods would run, and the "
        "others never be created.",
        wrong="# campaigns/correspondence-of-the-board-of-trade-with-the-ports-since-1871.yaml\n"
        + _CAMPAIGN,
        right=f"# campaigns/board-of-trade-ports-1871.yaml\n{_CAMPAIGN}",
        since="0.1.0",
    )
)
def _campaign_name_too_long(known: Known) -> Iterator[Finding]:
    for name, parts in known.parts.items():
        # Several parts have names that are cut short for this.
        if not DNS_LABEL.match(name) or len(parts) != 1:
            continue
        last = f"{name}-{len(parts[0].volumes) - 1}"
        excess = len(last) - MAX_LABEL
        if excess > 0:
            yield Finding(
                known.campaigns[name].path,
                None,
                f"the last pod would be {last}, {excess} more than the {MAX_LABEL} characters of "
                "a host name",
                f"shorten the file's name to {len(name) - excess} characters",
            )


def _objects_of(job: str, backend: Backend) -> str:
    if backend is Backend.SLURM:
        return f"its job array {job} and the directory of that have the names"
    return f"its Job {job} and ConfigMap {campaign_configmap(job)} have the names"


@settings_rule(
    Rule(
        code="C004",
        name="duplicate-job",
        what="No two campaigns have a Job of the same name.",
        why=f"The parts of a campaign that is split are named after its first {NAME_LENGTH} "
        "characters. Two long names that begin alike would overwrite each other's Jobs.",
        wrong="# campaigns/correspondence-of-the-board-of-trade-with-the-ports-a.yaml\n"
        "pipeline: ocr\nvolumes: [a1, …, a12000]\n"
        "# campaigns/correspondence-of-the-board-of-trade-with-the-ports-b.yaml\n"
        "pipeline: ocr\nvolumes: [b1, …, b11000]\n",
        right="# campaigns/board-of-trade-ports-a.yaml\n"
        "pipeline: ocr\nvolumes: [a1, …, a12000]\n"
        "# campaigns/board-of-trade-ports-b.yaml\n"
        "pipeline: ocr\nvolumes: [b1, …, b11000]\n",
        since="0.1.0",
    )
)
def _duplicate_job(known: Known) -> Iterator[Finding]:
    owners: dict[str, str] = {}
    reported: set[tuple[str, str]] = set()
    for name, parts in sorted(known.parts.items()):
        for part in parts:
            owner = owners.setdefault(part.job, name)
            if owner == name or (owner, name) in reported:
                continue
            reported.add((owner, name))
            yield Finding(
                known.campaigns[name].path,
                None,
                f"{_objects_of(part.job, known.settings.backend)} of those of "
                f"{known.campaigns[owner].path}",
                f"rename the file so that the first {NAME_LENGTH} characters differ",
            )
