"""`campaigns doctor`: whether cluster, identity and repository are fit for campaigns."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from converter.cli.options import cluster_options, repo_argument
from converter.cli.repository import load_checked
from converter.doctor.finding import Group
from converter.errors import CampaignsError
from converter.problem import Level

if TYPE_CHECKING:
    from rich.console import Console

    from converter.cluster.client import Client
    from converter.doctor.finding import Finding
    from converter.doctor.repository import Clone
    from converter.model import Settings

STYLES: Final = {"ok": "green", "warning": "yellow", "fault": "bold red", "unknown": "magenta"}
_WIDTH: Final = max(map(len, STYLES))
# The groups of checks, as --only names them.
GROUPS: Final = tuple(group.option for group in Group)
# Where converter.yaml sets none, in seconds.
_TIMEOUT: Final = 60.0


@click.command("doctor")
@repo_argument
@click.option(
    "--for",
    "purpose",
    type=click.Choice(["apply", "view", "hold"]),
    help="What this identity is for; a fault where it may not do that. Without it, where it may "
    "do nothing of that.",
)
@click.option(
    "--only",
    "groups",
    type=click.Choice(GROUPS),
    multiple=True,
    help="Show and judge this group of checks alone; may be given several times.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 also for a warning, and for what could not be checked.",
)
@click.option(
    "--probe-holds",
    is_flag=True,
    help="Also place and lift a hold, on a Job of doctor's own (with Slurm: a job) that runs "
    "nothing and is deleted again. Without this nothing on the cluster is changed.",
)
@click.option(
    "--holder-kubeconfig",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="With --probe-holds: kubeconfig of the identity that holds, where it is another one than "
    "that which may create Jobs.",
)
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
@cluster_options
def command(
    *,
    repo: Path,
    purpose: str | None,
    groups: tuple[str, ...],
    strict: bool,
    probe_holds: bool,
    holder_kubeconfig: Path | None,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Check the cluster, this identity and the repository in REPO, and say what to change.

    Nothing on the cluster is changed: Jobs are only tried (dry run). With --probe-holds one Job is
    made and deleted again. What cannot be checked is "unknown", which is no fault. An invalid REPO
    is a fault, and the cluster is checked as far as its converter.yaml can be used. With backend
    slurm the host of Slurm's tools, the shared directory and the controller are checked, and the
    options of a kubeconfig mean nothing.

    The document of --format json is described in docs/doctor.md.

    \b
    Exit codes:
      0  no fault
      1  at least one fault; with --strict, at least one check that is not ok
      2  wrong usage

    \b
    Example:
      campaigns doctor . --for apply
      campaigns doctor . --only queue --strict
    """
    from converter.cluster.client import Client
    from converter.doctor.examine import examine
    from converter.doctor.finding import exit_code, of_groups
    from converter.doctor.needs import Purpose
    from converter.git import order_to

    if holder_kubeconfig and not probe_holds:
        raise click.UsageError("--holder-kubeconfig is for --probe-holds: add that")
    clone = _clone(repo)
    settings = clone.settings
    timeout = float(settings.apiserver_request_timeout) if settings else _TIMEOUT

    def connect() -> "Client":
        return Client.from_kubeconfig(
            kubeconfig=kubeconfig, context=context, request_timeout=timeout
        )

    def probe(client: "Client", used: "Settings", image: str) -> "Sequence[Finding]":
        from converter.doctor.hold_probe import hold_findings, no_holder

        try:
            holder = client
            if holder_kubeconfig is not None:
                holder = Client.from_kubeconfig(
                    kubeconfig=holder_kubeconfig, request_timeout=timeout
                )
        except CampaignsError as error:
            return (no_holder(error),)
        return hold_findings(client, holder, used, image)

    wish = Purpose(purpose) if purpose else None
    findings: Sequence[Finding]
    if settings is not None and settings.slurm is not None:
        from converter.doctor.slurm.examine import examine_slurm

        findings = examine_slurm(
            clone,
            settings,
            settings.slurm,
            lambda other: order_to(repo, other),
            wish,
            probes_holds=probe_holds,
        )
    else:
        findings = examine(
            connect,
            clone,
            lambda other: order_to(repo, other),
            wish,
            probe if probe_holds else None,
        )
    if groups:
        findings = of_groups(findings, [group for group in Group if group.option in groups])
    code = exit_code(findings, strict=strict)
    if output == "json":
        click.echo(document(findings, code))
    else:
        _show(findings)
    return code


def document(findings: "Sequence[Finding]", code: int) -> str:
    """See docs/doctor.md. A new member does not change the version."""
    from converter.doctor.finding import counted

    found = {
        "version": 1,
        "findings": [asdict(finding) for finding in findings],
        "summary": counted(findings),
        "exitCode": code,
    }
    return json.dumps(found, indent=2, ensure_ascii=False)


def _clone(directory: Path) -> "Clone":
    from converter.doctor.repository import Clone
    from converter.git import has_whole_history, head_commit, is_in_clone, repository_name

    loaded, problems = load_checked(directory)
    settings = loaded.settings
    name, name_error = settings.repository if settings else "", ""
    try:
        name = name or repository_name(directory)
    except CampaignsError as error:
        name_error = str(error)
    errors = tuple(str(problem) for problem in problems if problem.level is Level.ERROR)
    return Clone(
        directory=str(directory),
        settings=settings,
        errors=errors,
        name=name,
        name_error=name_error,
        commit=head_commit(directory),
        is_in_git=is_in_clone(directory),
        has_whole_history=has_whole_history(directory),
        image=next((each.image for each in loaded.pipelines.values()), ""),
        repo=None if errors else loaded.repo,
    )


def _show(findings: "Sequence[Finding]") -> None:
    from converter.cli.following import console
    from converter.doctor.finding import counted

    screen = console()
    for group, members in groupby(findings, lambda finding: finding.group):
        _print(screen, group, "bold")
        for finding in members:
            _print(screen, f"  {finding.status:<{_WIDTH}}  ", STYLES[finding.status], finding.found)
            if finding.remedy:
                _print(screen, " " * (_WIDTH + 4), "", f"-> {finding.remedy}")
    numbers = counted(findings)
    shown = ", ".join(f"{number} {status}" for status, number in numbers.items() if number)
    _print(screen, shown, "bold")


def _print(screen: "Console", lead: str, style: str, text: str = "") -> None:
    """One line, with its beginning in a style; words are never broken, so that it can be copied."""
    from rich.text import Text

    screen.print(Text.assemble((lead, style), text), soft_wrap=True)
