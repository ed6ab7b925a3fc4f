"""`campaigns hold`: stop something until it is released, whatever git says."""

from pathlib import Path

import click

from converter.cli.hold_options import call_options, holds_in, place_of, place_options
from converter.cli.hold_told import carried_out


@click.command("hold")
@call_options
@click.option("--reason", default="", help="Why; anybody who may look at the object can read it.")
@place_options
def command(
    *,
    target: str,
    instance: int,
    deadline: float,
    by: str,
    reason: str,
    repo: Path | None,
    namespace: str | None,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Stop TARGET and do not let it run again before this hold is released.

    TARGET is a campaign of REPO, with all its parts, or job/NAME, trainjob/NAME or workload/NAME.
    On Slurm it is a campaign, or the number of a job, an array or a task: 31, job/31, 29_2.
    A hold wins over git: apply leaves what is held as it is. Of several holds the one with the
    highest number is in force, and a call that comes late changes nothing.

    On Slurm what waits is kept from starting. A task that runs cannot be held: it goes on, which is
    said, and the exit code is 1.

    The document of --format json is described in docs/holds.md.

    \b
    Exit codes:
      0  the hold is in force, on every part
      1  on some part it is not, or that is not known
      2  wrong usage

    \b
    Examples:
      campaigns hold letters --instance 3 --deadline 30s --reason 'node a7 is lost'
      campaigns hold job/letters-part2 --namespace batch --instance 3 --deadline 30s
    """
    holds = holds_in(place_of(repo, namespace), kubeconfig, context)
    return carried_out(
        lambda seconds: holds.hold(target, instance, deadline=seconds, by=by, reason=reason),
        deadline,
        action="hold",
        target=target,
        instance=instance,
        output=output,
    )
