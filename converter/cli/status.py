"""`campaigns status`: how far each campaign is."""

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from converter.cli.campaign_argument import unknown_campaign
from converter.cli.options import cluster_options, repo_argument
from converter.cli.repository import load_valid, named

if TYPE_CHECKING:
    from datetime import datetime

    from converter.cluster.client import Client
    from converter.explain.cause import Cause
    from converter.explain.detail import Detail
    from converter.model import Repo
    from converter.observe.source import Source
    from converter.observe.status import Status

PHASES = (
    *("Waiting", "Running", "Paused", "Held", "Finished", "Failed"),
    *("PartlyFailed", "Missing", "Drifted", "Pausing"),
)


def read_selection(
    ctx: click.Context, param: click.Parameter, values: Sequence[str]
) -> frozenset[str]:
    """The phases that are asked for, as ``phase=Paused`` or ``phase=Paused,Held``; none for all."""
    chosen: set[str] = set()
    for value in values:
        key, _, listed = value.partition("=")
        phases = {phase.casefold(): phase for phase in PHASES}
        found = [phases.get(each.strip().casefold()) for each in listed.split(",")]
        if key != "phase" or None in found:
            message = f"{value!r} is none: write phase= and one of {', '.join(PHASES)}"
            raise click.BadParameter(message, ctx, param)
        chosen.update(filter(None, found))
    return frozenset(chosen)


@click.command("status")
@repo_argument
@click.argument("name", required=False)
@click.option("--watch", "-w", is_flag=True, help="Keep showing it until every campaign rests.")
@click.option(
    "--select",
    "phases",
    multiple=True,
    metavar="phase=PHASE[,PHASE]",
    callback=read_selection,
    help="Only campaigns in these phases.",
)
@click.option(
    "--format", "output", type=click.Choice(["text", "json", "openmetrics"]), default="text"
)
@cluster_options
def command(
    *,
    repo: Path,
    name: str | None,
    watch: bool,
    phases: frozenset[str],
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Show the campaigns of REPO, or all about the one called NAME.

    PHASE is Waiting, Running, Paused, Held, Finished, Failed, PartlyFailed, Missing (in git, and
    not on the cluster), Pausing (to be paused, and pods still run or end) or Drifted (not as git
    has it). PLACE is the place in the queue, - where there is none or it may not be read; ETA is
    reckoned from the rate so far, with the bounds for two cases of three. A campaign that is gone
    from REPO is shown for as long as it is on the cluster.

    With --watch each change is shown as it happens, until no campaign can go on by itself: each
    has ended, is paused or is held.

    \b
    Examples:
      campaigns status . --watch
      campaigns status . --select phase=Waiting,Drifted
      campaigns status . letters
    """
    if watch and output != "text":
        raise click.UsageError(f"--watch has no --format {output}: ask again and again without it")
    loaded = named(load_valid(repo, samples=False), repo)
    selection = _Selection(name, phases)
    if (slurm := loaded.settings.slurm) is not None:
        from converter.cli.slurm import SlurmSource

        asked = SlurmSource(loaded, slurm)
        if watch:
            return _follow(asked, asked.now, loaded, selection, repo)
        seen = asked.look(name or "")
        _check_name(selection, seen.statuses, loaded, repo)
        chosen = selection.of(seen.statuses)
        detail = seen.detail if chosen else None
        return _tell(_Seen(chosen, seen.now, "", (), seen.why, detail), loaded, output)

    from converter.cluster.client import Client

    client = Client.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(loaded.settings.apiserver_request_timeout),
    )

    if watch:
        return _watch(client, loaded, selection, repo)
    return _once(client, loaded, selection, output, repo)


@dataclass(frozen=True, slots=True)
class _Selection:
    """Which campaigns are asked for: one by its name, those in some phases, or all."""

    name: str | None
    phases: frozenset[str]

    def of(self, found: Iterable["Status"]) -> list["Status"]:
        chosen = self.named(found)
        return [each for each in chosen if not self.phases or each.shown_phase in self.phases]

    def named(self, found: Iterable["Status"]) -> list["Status"]:
        """Whatever their phases are by now."""
        return [status for status in found if self.name in (None, status.name)]


def _once(
    client: "Client", repo: "Repo", selection: _Selection, output: str, directory: Path
) -> int:
    return _tell(_look(client, repo, selection, directory), repo, output)


def _tell(seen: "_Seen", repo: "Repo", output: str) -> int:
    from converter.observe.document import status_list

    repository = repo.settings.repository
    if output == "json":
        document = status_list(seen.statuses, seen.now, repository, seen.places_unread)
        if seen.detail is not None:
            document["campaigns"][0]["trouble"] = seen.detail.document()
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif output == "openmetrics":
        from converter.observe.openmetrics import exposition

        click.echo(exposition(seen.statuses, seen.now, repository), nl=False)
    else:
        _show(seen)
    if os.environ.get("GITHUB_STEP_SUMMARY"):
        from converter.cli import job_summary

        section = job_summary.status_section(seen.statuses, seen.places_unread)
        job_summary.publish(section, lambda text: click.echo(f"warning: {text}", err=True))
    return 0


def _look(client: "Client", repo: "Repo", selection: _Selection, directory: Path) -> "_Seen":
    from concurrent.futures import ThreadPoolExecutor
    from importlib import import_module

    from converter.observe.look import look

    with ThreadPoolExecutor(max_workers=1) as pool:
        # What is imported below is loaded while the API server answers. Not the other way round: an
        # interrupt would wait for the answer.
        for module in ("rules", "reading", "facts", "detail"):
            pool.submit(import_module, f"converter.explain.{module}")
        snapshot, every = look(client, repo)
    from converter.explain.detail import read_detail
    from converter.explain.facts import facts_of
    from converter.explain.reading import read_for_explain
    from converter.explain.rules import causes, first_sentence

    places = snapshot.places
    _check_name(selection, every, repo, directory)
    found = selection.of(every)
    asked = {status.name for status in found}
    explained = read_for_explain(client, repo, snapshot, every, campaigns=asked)
    facts = facts_of(repo, explained, found)
    found = [
        replace(status, detail=first_sentence(facts[status.name]) or status.detail)
        for status in found
    ]
    # It is read where one waits.
    queue = explained.chain.unknown if explained.chain else ()
    unread = (*explained.unread, *(f"the queue: {why}" for why in queue))
    if selection.name is None or not found:
        return _Seen(found, snapshot.now, places.unread, unread)
    one = facts[selection.name]
    detail = read_detail(client, one)
    unread = tuple(dict.fromkeys((*unread, *detail.unread)))
    return _Seen(found, snapshot.now, places.unread, unread, causes(one), detail)


@dataclass(frozen=True, slots=True)
class _Seen:
    """What there is to show. `why` and `detail` are those of one campaign that was asked for."""

    statuses: Sequence["Status"]
    now: "datetime"
    places_unread: str
    unread: tuple[str, ...]
    why: tuple["Cause", ...] = ()
    detail: "Detail | None" = None


def _watch(client: "Client", repo: "Repo", selection: _Selection, directory: Path) -> int:
    from converter.observe.source import source_of

    source = source_of(client, repo, _note, places=True)
    return _follow(source, client.now, repo, selection, directory)


def _follow(
    source: "Source",
    now: "Callable[[], datetime]",
    repo: "Repo",
    selection: _Selection,
    directory: Path,
) -> int:
    from converter.cli.following import console, following, is_redrawn
    from converter.observe.waiting import follow

    screen = console()
    _check_name(selection, source.read(), repo, directory)
    told: set[str] = set()
    with following(screen, now, click.echo, source.server) as show:

        def show_selected(found: Sequence["Status"], trouble: str) -> None:
            selected = selection.of(found)
            show(selected, trouble)
            for note in {*_about_places(source.places_unread, selected)} - told:
                told.add(note)
                _note(note)

        # One that comes to a phase that is not asked for may come back.
        followed = follow(
            lambda: selection.named(source.read()),
            show_selected,
            pace=source.pace,
            sleep=source.wait,
        )
    if not is_redrawn(screen):
        _show(_Seen(selection.of(followed.statuses), now(), "", ()))
    return 0


def _check_name(
    selection: _Selection, every: Iterable["Status"], repo: "Repo", directory: Path
) -> None:
    name = selection.name
    if name is not None and name not in {status.name for status in every}:
        raise unknown_campaign(name, f"in {directory} or on the cluster", repo.campaigns)


def _show(seen: _Seen) -> None:
    from converter.cli.status_table import plain

    if sys.stdout.isatty() or os.environ.get("FORCE_COLOR") or seen.detail is not None:
        _print(seen)
    else:
        click.echo(plain(seen.statuses, seen.now), nl=False)
    for note in (*seen.unread, *_about_places(seen.places_unread, seen.statuses)):
        _note(note)


def _about_places(unread: str, shown: Iterable["Status"]) -> Iterator[str]:
    if unread and any(status.phase == "Waiting" for status in shown):
        yield f"{unread}, so PLACE says nothing"


def _note(text: str) -> None:
    click.echo(f"note: {text}", err=True)


def _print(seen: _Seen) -> None:
    from converter.cli.following import console
    from converter.cli.status_table import table

    screen = console()
    screen.print(table(seen.statuses, seen.now))
    if seen.detail is not None:
        from converter.cli.status_detail import sections

        for section in sections(seen.why, seen.detail, seen.now):
            screen.print(section)
