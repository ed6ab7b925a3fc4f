"""`campaigns retry`: a new campaign file of the volumes that failed."""

from collections.abc import Collection
from pathlib import Path

import click

from converter.cli.campaign_argument import unknown_campaign
from converter.cli.options import cluster_options, repo_argument
from converter.cli.repository import load_valid, named
from converter.errors import CampaignsError, Refused
from converter.load.files import DIRECTORIES
from converter.load.schema import FileKind
from converter.model import Repo


@click.command("retry")
@click.argument("name")
@repo_argument
@cluster_options
def command(*, name: str, repo: Path, kubeconfig: Path | None, context: str | None) -> int:
    """Write a campaign of just the volumes of the campaign NAME that failed.

    The new file is REPO/campaigns/NAME-retryN.yaml, ready to be looked at and committed. What
    failed is read from the record that `campaigns apply` has written, with backend slurm also from
    what the tasks have; nothing is changed on the cluster.

    \b
    Example:
      campaigns retry letters-1843
    """
    loaded = named(load_valid(repo), repo)
    campaign = loaded.campaigns.get(name)
    if campaign is None:
        raise unknown_campaign(name, f"in {repo}", loaded.campaigns)

    from converter.render.text import yaml_text
    from converter.retry import already_retried, retry_document, retry_name

    names: Collection[str]
    if (slurm := loaded.settings.slurm) is not None:
        from converter.cli.slurm import failed_in_slurm

        failed, names = failed_in_slurm(loaded, slurm, name)
    else:
        failed, names = _failed_in_cluster(loaded, name, kubeconfig, context)
    if not failed:
        click.echo(f"no volume of {name} failed", err=True)
        return 0
    if (there := already_retried(campaign, failed, loaded.campaigns.values())) is not None:
        raise Refused(
            f"{there.path} has just the volumes of {name} that failed: commit it and apply, or, if "
            f"it has ended, retry {there.name}"
        )
    try:
        new = retry_name(name, {*loaded.campaigns, *names})
        text = yaml_text(retry_document(campaign, failed))
    except ValueError as error:
        raise Refused(str(error)) from error
    file = repo / DIRECTORIES[FileKind.CAMPAIGN] / f"{new}.yaml"
    # That they are in two files is what this is for.
    heading = f"# campaigns: ignore=C010 these are the volumes of {name} that failed\n"
    try:
        with file.open("x", encoding="utf-8") as stream:
            stream.write(heading + text)
    except OSError as error:
        raise CampaignsError(f"cannot write {file}: {error.strerror}") from error
    click.echo(f"{file}: failed volumes {len(failed)}; look at it, commit it and apply")
    return 0


def _failed_in_cluster(
    repo: Repo, campaign: str, kubeconfig: Path | None, context: str | None
) -> tuple[tuple[str, ...], Collection[str]]:
    """The volumes that failed, and the names that are taken."""
    from converter.cluster.client import Client
    from converter.reconcile.failed import failed_volumes
    from converter.reconcile.live import read_for_status

    settings = repo.settings
    timeout = float(settings.apiserver_request_timeout)
    client = Client.from_kubeconfig(kubeconfig=kubeconfig, context=context, request_timeout=timeout)
    live = read_for_status(client, settings.namespace, settings.backend)
    return failed_volumes(campaign, live, settings.repository), live.jobs.keys()
