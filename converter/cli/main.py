"""The `campaigns` command group.

Commands are imported when they are called: `validate` runs on every commit and must not pay for
the Kubernetes client that `apply` needs.
"""

import gc
import signal
import sys
from importlib import import_module
from typing import Any, Final

import click

from converter import __version__
from converter.cli.output import accept_any_text, discard
from converter.errors import CampaignsError, InvalidRepository

# Between two runs of the garbage collector; Python's default is 700.
_ALLOCATIONS: Final = 400_000

# Command name to module; the module's attribute `command` is the click command.
COMMANDS: Final = {
    "init": "converter.cli.init",
    "validate": "converter.cli.validate",
    "render": "converter.cli.render",
    "diff": "converter.cli.diff",
    "apply": "converter.cli.apply",
    "status": "converter.cli.status",
    "explain": "converter.cli.explain",
    "hold": "converter.cli.hold",
    "release": "converter.cli.release",
    "holds": "converter.cli.holds",
    "report": "converter.cli.report",
    "doctor": "converter.cli.doctor",
    "retry": "converter.cli.retry",
    "rule": "converter.cli.rule",
    "schema": "converter.cli.schema",
    "chart-values": "converter.cli.chart_values",
}


class Commands(click.Group):
    """A group that imports a command's module when it is needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order in which people meet them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        command = import_module(COMMANDS[cmd_name]).command
        return command if isinstance(command, click.Command) else None


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="campaigns")
def campaigns() -> None:
    """Batch campaigns from git: validate files, apply them to a cluster, see how they do.

    A campaign file says what to run (a list of volumes) and how (a pipeline). One Kubernetes Job
    per campaign is queued by Kueue or Koord-Queue, or started without a queue.

    \b
    Example:
      campaigns validate .
      campaigns apply . --prune
      campaigns status .
    """


class Terminated(SystemExit):
    """SIGTERM, raised in the main thread, so that a Lease is released on the way out."""


def main() -> None:
    """Run the command; every failure that a user can meet is one line and an exit code."""
    # Nearly all that is made is kept until the end; looking at it again and again finds nothing.
    gc.set_threshold(_ALLOCATIONS)
    signal.signal(signal.SIGTERM, _terminated)
    accept_any_text()
    code = _run()
    # Python would look for garbage among all that was made, and then end all the same.
    gc.freeze()
    sys.exit(code)


def _run() -> int:
    try:
        result: Any = campaigns.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 128 + signal.SIGINT
    except Terminated:
        click.echo("terminated", err=True)
        return 128 + signal.SIGTERM
    except InvalidRepository as error:
        for problem in error.problems:
            click.echo(str(problem), err=True)
        click.echo(f"{error} Nothing was done.", err=True)
        return 1
    except CampaignsError as error:
        click.echo(f"error: {error}", err=True)
        return 1
    except OSError as error:
        click.echo(f"error: {error.filename or 'cannot write'}: {error.strerror}", err=True)
        discard(sys.stdout)
        return 1
    return result if isinstance(result, int) else 0


def _terminated(number: int, _frame: object) -> None:
    raise Terminated(128 + number)
