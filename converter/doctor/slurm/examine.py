"""The whole report on a Slurm: what is read, and which checks are made of it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from converter.doctor.finding import Finding
from converter.doctor.needs import Purpose
from converter.doctor.repository import Clone, repository_findings
from converter.doctor.slurm.admission import submission_findings
from converter.doctor.slurm.applied import applied_findings
from converter.doctor.slurm.asks import Ask, arrays_of, asks_of, partitions_of
from converter.doctor.slurm.controller import controller_findings
from converter.doctor.slurm.directory import directory_findings
from converter.doctor.slurm.facts import FileFacts, SiteFacts
from converter.doctor.slurm.hold_probe import hold_findings, not_tried
from converter.doctor.slurm.host import host_findings
from converter.doctor.slurm.limits import limit_findings
from converter.doctor.slurm.nodes import node_findings
from converter.doctor.slurm.read import read_site
from converter.doctor.slurm.rights import rights_findings
from converter.git import Order
from converter.model import Settings, SlurmSettings
from converter.reconcile.queue_chain import Unknown
from converter.slurm.host import Host


def examine_slurm(
    clone: Clone,
    settings: Settings,
    slurm: SlurmSettings,
    order: Callable[[str], Order],
    wish: Purpose | None,
    *,
    probes_holds: bool = False,
) -> tuple[Finding, ...]:
    """Every finding, group by group; `order` is how the clone's commit stands to another one.

    `probes_holds` submits a job, which never starts, and cancels it; without it nothing is changed.
    """
    # Without a name it is called after its directory, by every command.
    named = replace(clone, name=clone.name or Path(clone.directory).resolve().name)
    applies = wish in (None, Purpose.APPLY)
    asks = asks_of(settings, clone.repo) if applies else ()
    facts = read_site(slurm, named.name, asks)
    probe = (lambda: hold_findings(Host(slurm.host), slurm)) if probes_holds else None
    return (
        *_site(facts, named, slurm, asks, order, wish, probe),
        *repository_findings(clone),
    )


def _site(
    facts: SiteFacts,
    clone: Clone,
    slurm: SlurmSettings,
    asks: Sequence[Ask],
    order: Callable[[str], Order],
    wish: Purpose | None,
    probe: Callable[[], Iterable[Finding]] | None,
) -> Iterator[Finding]:
    applies = wish in (None, Purpose.APPLY)
    yield from host_findings(facts.host)
    if isinstance(facts.host, Unknown):
        return
    files, controller, found = facts.files, facts.slurm, facts.survey
    yield from directory_findings(slurm.directory, files, found, applies=applies)
    yield from controller_findings(controller, found)
    config = None if isinstance(controller, Unknown) else controller.config
    if not applies or isinstance(controller, Unknown) or not isinstance(config, Mapping):
        yield from rights_findings(facts.host, files, controller, found, wish)
    else:
        tries_again = files.tries_again if isinstance(files, FileFacts) else {}
        arrays, most = arrays_of(clone.repo), slurm.max_array_size
        yield from limit_findings(controller, config, found, arrays, most, tries_again)
        yield from rights_findings(facts.host, files, controller, found, wish)
        yield from node_findings(controller, config, asks, partitions_of(slurm), slurm)
        yield from submission_findings(asks, controller.trials)
    if probe is not None:
        there = isinstance(files, FileFacts) and files.kind == "there"
        yield from probe() if there and isinstance(config, Mapping) else (not_tried(),)
    if applies:
        yield from applied_findings(files, found, clone, slurm.directory, order)
