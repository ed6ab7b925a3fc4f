"""`campaigns explain`: why a campaign is where it is, and what to change."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from converter.cli.campaign_argument import unknown_campaign
from converter.cli.options import cluster_options, repo_argument
from converter.cli.repository import load_valid, named

if TYPE_CHECKING:
    from converter.explain.cause import Cause
    from converter.explain.facts import Facts
    from converter.observe.status import Status


@click.command("explain")
@click.argument("name")
@repo_argument
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
@cluster_options
def command(
    *,
    name: str,
    repo: Path,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Say why the campaign NAME of REPO is where it is, and what to change in which file.

    The causes come in order: the first is what is to be changed first. Nothing is written; an
    identity that may only look will do, and what it may not read is named.

    With --format json the document is {"version": 1, "campaign", "phase", "causes": [{"code",
    "sentence", "remedy", "details"}], "unread": [TEXT]}.

    \b
    Example:
      campaigns explain letters
    """
    loaded = named(load_valid(repo, samples=False), repo)
    if (slurm := loaded.settings.slurm) is not None:
        from converter.cli.slurm import SlurmSource

        seen = SlurmSource(loaded, slurm).look(name)
        one = next((each for each in seen.statuses if each.name == name), None)
        if one is None:
            raise unknown_campaign(name, f"in {repo} or in Slurm", loaded.campaigns)
        return _tell(one, seen.why, (), output)

    from converter.cluster.client import Client
    from converter.explain.facts import facts_of
    from converter.explain.reading import read_for_explain
    from converter.explain.rules import causes
    from converter.observe.look import look

    client = Client.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(loaded.settings.apiserver_request_timeout),
    )
    snapshot, found = look(client, loaded)
    asked = [status for status in found if status.name == name]
    if not asked:
        raise unknown_campaign(name, f"in {repo} or on the cluster", loaded.campaigns)
    snapshot = read_for_explain(client, loaded, snapshot, asked, campaigns=[name])
    facts = facts_of(loaded, snapshot, asked)[name]
    return _tell(facts.status, causes(facts), tuple(_unread(facts)), output)


def _tell(status: "Status", why: Sequence["Cause"], unread: Sequence[str], output: str) -> int:
    if output == "json":
        click.echo(json.dumps(_document(status, why, unread), indent=2, ensure_ascii=False))
        return 0
    for line in _lines(status, why):
        click.echo(line)
    for note in unread:
        click.echo(f"note: {note}", err=True)
    return 0


def _lines(status: "Status", why: Sequence["Cause"]) -> Iterator[str]:
    counted = f"{status.done}/{status.total} done, {status.failed} failed"
    yield f"{status.name}: {status.shown_phase}, {counted}"
    for number, cause in enumerate(why, start=1):
        yield f"{number}. {cause.sentence}"
        for detail in cause.details:
            yield f"     {detail}"
        if cause.remedy:
            yield f"   -> {cause.remedy}"


def _document(status: "Status", why: Sequence["Cause"], unread: Sequence[str]) -> dict[str, Any]:
    return {
        "version": 1,
        "campaign": status.name,
        "phase": status.shown_phase,
        "causes": [
            {
                "code": cause.code,
                "sentence": cause.sentence,
                "remedy": cause.remedy,
                "details": list(cause.details),
            }
            for cause in why
        ],
        "unread": list(unread),
    }


def _unread(facts: "Facts") -> Iterator[str]:
    """What could not be read of what would have been told."""
    snapshot = facts.snapshot
    yield from snapshot.unread
    if facts.status.phase == "Waiting":
        if snapshot.places.unread:
            yield f"the queue: {snapshot.places.unread}"
        if snapshot.chain is not None:
            yield from (f"the queue: {why}" for why in snapshot.chain.unknown)
