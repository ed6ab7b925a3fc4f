"""What `hold`, `release` and `holds` have in common: which call it is, and where the holds are."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from converter.cli.campaign_argument import REPO, RepositoryPath
from converter.cli.duration import seconds_of
from converter.cli.options import cluster_options
from converter.cli.person import caller
from converter.cli.repository import named
from converter.errors import InvalidRepository, Refused
from converter.holds.mark import LEAST, MOST
from converter.load import load_repo
from converter.model import EMPTY, Backend, Repo, SlurmSettings

if TYPE_CHECKING:
    from converter.holds.api import Holds
    from converter.holds.slurm import SlurmHolds

F = TypeVar("F", bound=Callable[..., Any])

# Where no converter.yaml sets it, in seconds.
_TIMEOUT: Final = 60


def read_deadline(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """The callback of --deadline: the moment of the monotonic clock at which the call's time ends.

    It counts from here, where the call comes in: reading REPO is part of it.
    """
    try:
        return time.monotonic() + seconds_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error


def place_options(function: F) -> F:
    """REPO, the namespace and the cluster."""
    repo = click.argument(
        REPO, type=RepositoryPath(exists=True, file_okay=False, path_type=Path), required=False
    )
    namespace = click.option(
        "--namespace",
        help="The namespace, where no REPO is given: no file is read then. With REPO it must be "
        "converter.yaml's.",
    )
    output = click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
    return repo(namespace(output(cluster_options(function))))


def call_options(function: F) -> F:
    """Which hold, by when, and by whom."""
    target = click.argument("target")
    instance = click.option(
        "--instance",
        type=click.IntRange(LEAST, MOST),
        required=True,
        help="The number of the hold; a newer hold has a higher one. On Slurm it is from 2 on "
        "for a campaign: 1 is git's own pause.",
    )
    deadline = click.option(
        "--deadline",
        callback=read_deadline,
        required=True,
        metavar="DURATION",
        help="How long the call may take, for example 30s: no request is sent after it.",
    )
    by = click.option(
        "--by", help="Who calls; else the person behind the CI job, or user@host.", default=caller
    )
    return target(instance(deadline(by(function))))


@dataclass(frozen=True, slots=True)
class Place:
    """Where holds are looked for; `repository` is empty where it is not known."""

    namespace: str
    repository: str = ""
    backend: Backend = Backend.KUEUE
    apiserver_request_timeout: int = _TIMEOUT
    slurm: SlurmSettings | None = None


def place_of(repo: Path | None, namespace: str | None) -> Place:
    """The place that a command line means.

    Of REPO only converter.yaml is needed: a mistake in another file keeps nobody from a hold.
    Raises InvalidRepository, and Refused where the namespaces differ or the backend has none.
    """
    if repo is None and namespace:
        return Place(namespace)
    directory = repo or Path()
    loaded = load_repo(directory)
    if loaded.settings is None:
        raise InvalidRepository(
            loaded.problems, "converter.yaml cannot be used: correct it, or give --namespace."
        )
    if namespace not in (None, loaded.settings.namespace):
        raise Refused(
            f"--namespace {namespace} is not converter.yaml's namespace "
            f"{loaded.settings.namespace}; nothing was sent"
        )
    settings = named(Repo(loaded.settings, EMPTY, EMPTY), directory).settings
    return Place(
        settings.namespace,
        settings.repository,
        settings.backend,
        settings.apiserver_request_timeout,
        settings.slurm,
    )


def holds_in(place: Place, kubeconfig: Path | None, context: str | None) -> "Holds | SlurmHolds":
    """The holds of a place."""
    if place.slurm is not None:
        from converter.cli.slurm import holds_in_slurm

        return holds_in_slurm(place.slurm, place.repository)
    from converter.cluster.client import Client
    from converter.holds.api import Holds

    timeout = float(place.apiserver_request_timeout)
    client = Client.from_kubeconfig(kubeconfig=kubeconfig, context=context, request_timeout=timeout)
    return Holds(
        client,
        place.namespace,
        repository=place.repository,
        backend=place.backend,
        apiserver_request_timeout=timeout,
    )
