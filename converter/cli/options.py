"""Options and arguments that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from converter.cli.campaign_argument import REPO, RepositoryPath

F = TypeVar("F", bound=Callable[..., Any])

repo_argument = click.argument(
    REPO, type=RepositoryPath(exists=True, file_okay=False, path_type=Path), default="."
)


def cluster_options(function: F) -> F:
    """Which cluster: as with kubectl, a kubeconfig and a context in it."""
    kubeconfig = click.option(
        "--kubeconfig",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="Kubeconfig file; without it $KUBECONFIG, ~/.kube/config, or the pod's own identity.",
    )
    context = click.option("--context", help="Context of the kubeconfig.")
    return kubeconfig(context(function))
