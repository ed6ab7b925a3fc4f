"""`campaigns release`: lift a hold."""

from pathlib import Path

import click

from converter.cli.hold_options import call_options, holds_in, place_of, place_options
from converter.cli.hold_told import carried_out


@click.command("release")
@call_options
@place_options
def command(
    *,
    target: str,
    instance: int,
    deadline: float,
    by: str,
    repo: Path | None,
    namespace: str | None,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Lift the hold on TARGET that has this number, and no other.

    TARGET is a campaign of REPO, with all its parts, or job/NAME, trainjob/NAME or workload/NAME.
    On Slurm it is a campaign, or the number of a job, an array or a task: 31, job/31, 29_2.
    It goes on where it was, unless git pauses it, or it was stopped for another reason before.

    The document of --format json is described in docs/holds.md.

    \b
    Exit codes:
      0  the hold is lifted, on every part
      1  on some part it is not, or that is not known
      2  wrong usage

    \b
    Example:
      campaigns release letters --instance 3 --deadline 30s
    """
    holds = holds_in(place_of(repo, namespace), kubeconfig, context)
    return carried_out(
        lambda seconds: holds.release(target, instance, deadline=seconds, by=by),
        deadline,
        action="release",
        target=target,
        instance=instance,
        output=output,
    )
