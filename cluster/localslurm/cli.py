"""The command line: `python -m localslurm COMMAND`."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, TypeVar

import click
from localcluster.errors import ClusterError
from localcluster.lock import held
from localcluster.paths import instance_id
from localcluster.progress import Progress

from localslurm import slurm as slurms
from localslurm.config import Options
from localslurm.ports import slurm_root
from localslurm.slurm import Slurm
from localslurm.ssh import HOST, SshHost

Command = TypeVar("Command", bound=Callable[..., Any])

_instance: Callable[[Command], Command] = click.option(
    "--instance", default="dev", show_default=True, help="Which of several."
)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """A Slurm on this machine, of Debian's packages, which are not installed."""


@cli.command()
@_instance
@click.option("--nodes", type=click.IntRange(1, 99), default=4, show_default=True)
@click.option("--cpus", type=click.IntRange(min=1), default=1, show_default=True, help="Per node.")
@click.option("--gpus", type=click.IntRange(min=0), default=0, show_default=True, help="Per node.")
@click.option("--ssh", is_flag=True, help=f"A login by ssh too, as the host {HOST}.")
def up(instance: str, nodes: int, cpus: int, gpus: int, ssh: bool) -> None:
    """Start what does not run. One that is there keeps its nodes, whatever the options say."""
    progress = Progress()
    directory = _directory(instance)
    with _locked(instance, progress), progress.step("Slurm"):
        found = slurms.load(directory)
        if found:
            found.start()
        else:
            found = slurms.start(directory, Options(nodes, cpus, gpus=gpus), progress)
        host = SshHost(found)
        if ssh or host.config.exists():
            host.start(progress)
    progress.say(f"ready: export PATH={found.bin}:$PATH")
    if host.config.exists():
        progress.say(f"or: ssh -F {host.config} {HOST}")


@cli.command()
@_instance
def down(instance: str) -> None:
    """End it with all its jobs, and delete its state."""
    progress = Progress()
    with _locked(instance, progress):
        found = slurms.load(_directory(instance))
        if found is None:
            progress.say(f"there is no instance {instance!r}: nothing to end")
            return
        found.stop()
        found.remove()


@cli.command()
@_instance
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def status(instance: str, form: str) -> None:
    """Say what runs; exit code 1 where something that should does not."""
    found = slurms.load(_directory(instance))
    if found is None:
        raise ClusterError(f"there is no instance {instance!r}: start it with `up`")
    running = found.running()
    click.echo(_json(found, running) if form == "json" else _text(found, running))
    if not all(running.values()):
        raise SystemExit(1)


def main() -> None:
    """Run a command; a problem is one message and exit code 1."""
    try:
        cli(prog_name="localslurm")
    except ClusterError as error:
        click.echo(f"localslurm: {error}", err=True)
        raise SystemExit(1) from None


def _directory(instance: str) -> Path:
    return slurm_root() / instance_id(instance)


def _locked(instance: str, progress: Progress) -> AbstractContextManager[int]:
    what = f"`up` or `down` of the Slurm {instance}"
    return held(slurm_root() / f".{instance_id(instance)}.lock", what, progress)


def _json(found: Slurm, running: dict[str, int | None]) -> str:
    state = {"directory": str(found.directory), "bin": str(found.bin), "components": running}
    return json.dumps({**state, "running": all(running.values())}, indent=2)


def _text(found: Slurm, running: dict[str, int | None]) -> str:
    ran = ((name, f"pid {pid}" if pid else "not running") for name, pid in running.items())
    about = (("commands", str(found.bin)), ("state", str(found.directory)))
    return "\n".join(f"{key:<24} {value}" for key, value in (*about, *ran))
