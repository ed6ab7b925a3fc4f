"""The command line: `python -m localcluster COMMAND`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click

from localcluster import current
from localcluster.build import PRODUCTS, build
from localcluster.campaigns_image import ensure_archive
from localcluster.cluster import Cluster, Status
from localcluster.errors import ClusterError
from localcluster.instance import load
from localcluster.kind import KindCluster
from localcluster.progress import Progress
from localcluster.spec import (
    KWOK_TAINT,
    KwokNode,
    Mode,
    Spec,
    kwok_node,
    kwok_nodes_from_option,
    parse_pairs,
    read_mapping,
)

Command = TypeVar("Command", bound=Callable[..., Any])


def _options(command: Command) -> Command:
    """Which cluster a command is about."""
    backend = click.option(
        "--backend",
        type=click.Choice(["local", "kind", "current"]),
        default="local",
        envvar="CLUSTER",
        show_default=True,
        show_envvar=True,
        help="local: processes of this machine; kind: containers of a Docker engine; "
        "current: the kubeconfig's current context, which is left as it is.",
    )
    instance = click.option(
        "--instance", default="dev", show_default=True, help="Which of several clusters."
    )
    return instance(backend(command))


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """A Kubernetes cluster with Kueue on this machine, without a Docker engine."""


@cli.command("build")
@click.argument("product", required=False, type=click.Choice([*PRODUCTS]))
def build_command(product: str | None) -> None:
    """Build the binaries that the cache lacks, and print where they are."""
    for built in build(Progress(), *([product] if product else [])).values():
        click.echo(f"{built.product} {built.version} {built.path / 'bin'}")


@cli.command("image")
def image_command() -> None:
    """Build the image of the campaigns command, if the cache lacks it, and print where it is."""
    archive, image = ensure_archive(Progress())
    click.echo(f"{image.by_digest} {archive}")


@cli.command()
@_options
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    envvar="CLUSTER_MODE",
    show_envvar=True,
    help="full: with a real node, needs root (the default); kwok: fake nodes only.",
)
@click.option("--kwok-nodes", metavar="FILE|N", help="Fake nodes: how many, or a YAML list.")
@click.option("--label", "labels", multiple=True, metavar="K=V", help="Labels of the real node.")
@click.option("--gpus", type=click.IntRange(min=0), help="GPUs of the real node.  [default: 2]")
@click.option(
    "--trainer/--no-trainer",
    default=None,
    help="Kubeflow Trainer and JobSet too.  [default: no]",
)
@click.option(
    "--kueue-config",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="YAML to merge into Kueue's Configuration; its featureGates are part of it.",
)
def up(
    instance: str,
    backend: str,
    mode: str | None,
    kwok_nodes: str | None,
    labels: tuple[str, ...],
    gpus: int | None,
    trainer: bool | None,
    kueue_config: Path | None,
) -> None:
    """Start what does not run. An option that is not given stays as it was at the last `up`."""
    progress = Progress()
    if backend == "current":
        progress.say(current.check())
        return
    saved = load(instance) if backend == "local" else None
    spec = saved.spec if saved else Spec()
    if mode is not None:
        spec = replace(spec, mode=Mode(mode))
    if kwok_nodes is not None:
        spec = replace(spec, kwok_nodes=kwok_nodes_from_option(kwok_nodes))
    if labels:
        spec = replace(spec, real_node=replace(spec.real_node, labels=parse_pairs(labels)))
    if gpus is not None:
        spec = replace(spec, real_node=replace(spec.real_node, gpus=gpus))
    if trainer is not None:
        spec = replace(spec, trainer=trainer)
    if kueue_config is not None:
        spec = replace(spec, kueue_config=read_mapping(kueue_config))
    cluster = KindCluster(instance, progress) if backend == "kind" else Cluster(instance, progress)
    cluster.up(spec)
    progress.say(f"ready: export KUBECONFIG={cluster.kubeconfig}")


@cli.command()
@_options
@click.option("--keep", is_flag=True, help="Leave its state, for a next `up` to go on with.")
def down(instance: str, backend: str, keep: bool) -> None:
    """End the cluster and delete its state."""
    progress = Progress()
    if backend == "current":
        progress.say("the cluster of the current context is left as it is")
    elif backend == "kind":
        KindCluster(instance, progress).down()
    else:
        Cluster(instance, progress).down(keep=keep)


@cli.command()
@_options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
def status(instance: str, backend: str, form: str) -> None:
    """Say what runs; exit code 1 where something that should does not."""
    if backend == "current":
        click.echo(current.check())
        return
    if backend == "kind":
        click.echo(KindCluster(instance, Progress()).status())
        return
    found = Cluster(instance, Progress()).status()
    click.echo(found.to_json() if form == "json" else _text(found))
    if not found.running:
        raise SystemExit(1)


@cli.command()
@_options
def kubeconfig(instance: str, backend: str) -> None:
    """Print the path of the administrator's kubeconfig."""
    if backend == "current":
        click.echo(current.kubeconfig())
    elif backend == "kind":
        click.echo(KindCluster(instance, Progress()).kubeconfig)
    else:
        click.echo(Cluster(instance).kubeconfig)


@cli.command("image-digest")
def image_digest() -> None:
    """Print the reference, by digest, of the busybox image of the real node."""
    click.echo(Cluster(progress=Progress()).image.by_digest)


@cli.command(context_settings={"ignore_unknown_options": True})
@click.option("--instance", default="dev", show_default=True, help="Which of several clusters.")
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def ctl(instance: str, arguments: tuple[str, ...]) -> None:
    """Run kubectl as the administrator: `ctl -- get pods`."""
    kubectl = Cluster(instance).kubectl
    command = [str(kubectl.command), f"--kubeconfig={kubectl.kubeconfig}", *arguments]
    os.execv(command[0], command)  # noqa: S606 - a program and its arguments, no shell


@cli.group()
def node() -> None:
    """Fake nodes."""


@node.command()
@click.argument("name")
@click.option("--instance", default="dev", show_default=True, help="Which of several clusters.")
@click.option("--label", "labels", multiple=True, metavar="K=V")
@click.option("--taint", "taints", multiple=True, metavar="K=V:EFFECT")
@click.option(
    "--default-taint/--no-default-taint",
    default=True,
    show_default=True,
    help=f"Whether it has {KWOK_TAINT}, which keeps other pods off it.",
)
@click.option("--cpu", type=click.IntRange(min=1), default=32, show_default=True)
@click.option("--memory", default="256Gi", show_default=True)
@click.option("--gpus", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--pods", type=click.IntRange(min=1), default=110, show_default=True)
def add(
    instance: str,
    name: str,
    labels: tuple[str, ...],
    taints: tuple[str, ...],
    default_taint: bool,
    cpu: int,
    memory: str,
    gpus: int,
    pods: int,
) -> None:
    """Create the fake node NAME, or change it."""
    all_taints = (KWOK_TAINT, *taints) if default_taint else taints
    added = KwokNode(name, parse_pairs(labels), all_taints, cpu, memory, gpus, pods)
    Cluster(instance, Progress()).add_kwok_node(kwok_node(vars(added)))


def main() -> None:
    """Run a command; a problem is one message and exit code 1."""
    try:
        cli(prog_name="localcluster")
    except ClusterError as error:
        click.echo(f"localcluster: {error}", err=True)
        raise SystemExit(1) from None


def _text(found: Status) -> str:
    ran = ((name, f"pid {pid}" if pid else "not running") for name, pid in found.components.items())
    nodes = ((f"node {name}", "ready" if up else "not ready") for name, up in found.nodes.items())
    about = (
        ("instance", f"{found.instance} (--mode {found.mode})"),
        ("server", found.server),
        ("kubeconfig", found.kubeconfig),
        ("state", found.directory),
        ("versions", ", ".join(f"{name} {v}" for name, v in found.versions.items())),
    )
    return "\n".join(f"{key:<24} {value}" for key, value in (*about, *ran, *nodes))
