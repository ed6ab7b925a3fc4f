"""Partitions and nodes: whether what campaigns ask for is there, and for long enough."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.slurm.asks import Ask
from converter.doctor.slurm.facts import Node, Partition, SlurmFacts
from converter.model import SlurmSettings
from converter.reconcile.queue_chain import Unknown
from converter.wording import first_few

_PARTITION: Final = Check(Group.QUEUE, "partition")
_SIZE: Final = Check(Group.QUEUE, "size")
_TIME: Final = Check(Group.QUEUE, "time-limit")
_PRIORITY: Final = Check(Group.QUEUE, "priority")
_WORDS: Final = re.compile(r"[\w.:-]+(?:(?:[&]|[|])[\w.:-]+)*")
_NO_ACCOUNTING: Final = ("accounting_storage/none", "(null)", "")


def node_findings(
    slurm: SlurmFacts,
    config: Mapping[str, str],
    asks: Sequence[Ask],
    named: Sequence[str],
    settings: SlurmSettings,
) -> Iterator[Finding]:
    """Everything about them; `named` are the partitions of converter.yaml, as they stand there."""
    partitions, nodes = slurm.partitions, slurm.nodes
    if isinstance(partitions, Unknown):
        yield _PARTITION.unknown(f"not checked: {partitions.why}", "ask who runs Slurm")
        return
    by_name = {each.name: each for each in partitions}
    default = next((each.name for each in partitions if each.default), "")
    yield from _partitions(by_name, default, asks, named)
    for ask in asks:
        there = [by_name[name] for name in ask.partitions or (default,) if name in by_name]
        if there:
            yield size_finding(ask, there, nodes, config)
            yield time_finding(ask, there)
    yield from priority_findings(config, settings)


def _partitions(
    known: Mapping[str, Partition], default: str, asks: Sequence[Ask], named: Sequence[str]
) -> Iterator[Finding]:
    lists = [tuple(each.split(",")) for each in named]
    if any(not ask.partitions for ask in asks):
        if not default:
            yield _PARTITION.fault(
                "Slurm has no default partition", "name one as slurm.partition in converter.yaml"
            )
        else:
            lists.append((default,))
    for name in dict.fromkeys(each for one in lists for each in one):
        others = [set(one) - {name} for one in lists if name in one]
        spared = all(
            any(known[each].state == "UP" for each in one if each in known) for one in others
        )
        yield partition_finding(name, known, spared=spared)


def partition_finding(name: str, known: Mapping[str, Partition], *, spared: bool) -> Finding:
    """Whether a partition is there and up. `spared`: wherever it is named, another one is up."""
    found = known.get(name)
    if found is None:
        return _PARTITION.fault(
            f"there is no partition {name}",
            f"correct it in converter.yaml: Slurm has {first_few(sorted(known)) or 'none'}",
        )
    if found.state != "UP":
        what = "keeps jobs waiting" if found.state == "DOWN" else "takes no jobs"
        judged = _PARTITION.warning if spared else _PARTITION.fault
        return judged(
            f"partition {name} is {found.state}: it {what}",
            f"have it set up again (scontrol update PartitionName={name} State=UP), or name "
            "another one",
        )
    return _PARTITION.ok(f"partition {name} is up")


def size_finding(
    ask: Ask,
    partitions: Sequence[Partition],
    nodes: Sequence[Node] | Unknown,
    config: Mapping[str, str],
) -> Finding:
    """Whether one task fits a node that it may run on; without that it waits for ever."""
    where = f"partition {' or '.join(each.name for each in partitions)}"
    what = f"{ask.whose} ({ask.amount})"
    if isinstance(nodes, Unknown):
        return _SIZE.unknown(
            f"{what} was not compared with nodes: {nodes.why}", "ask who runs Slurm"
        )
    kind = f" with {ask.constraint}" if ask.constraint else ""
    of_kind = [
        (node, partition)
        for partition in partitions
        for node in nodes
        if partition.name in node.partitions and satisfies(ask.constraint, node.features)
    ]
    if not of_kind:
        return _SIZE.fault(
            f"{what}: {where} has no node{kind}, or shows none",
            "correct slurm.flavors in converter.yaml",
        )
    fit = {node.name: node for node, partition in of_kind if fits(ask, node, partition, config)}
    if not fit:
        return _SIZE.fault(
            f"{what} fits no node of {where}{kind}: {_most(of_kind, config)}",
            "write a smaller size in converter.yaml, or give it a flavor with larger nodes",
        )
    up = sum(node.up for node in fit.values())
    if not up:
        return _SIZE.fault(
            f"{what} fits only nodes of {where}{kind} that are down or drained: "
            f"{first_few(sorted(fit))}",
            "have them looked at (sinfo --list-reasons); until then it waits",
        )
    number = f"{len(fit)} node" + ("s" if len(fit) > 1 else "")
    some = f", {up} of them up" if up < len(fit) else ""
    return _SIZE.ok(f"{what} fits {number} of {where}{kind}{some}")


def fits(ask: Ask, node: Node, partition: Partition, config: Mapping[str, str]) -> bool:
    """Whether a node has enough, and the partition lets a task have it."""
    cpus, memory = _limits(node, partition, config)
    return ask.cpus <= cpus and ask.memory <= memory and ask.gpus <= node.gpus


def satisfies(constraint: str, features: frozenset[str]) -> bool:
    """Whether a node has what a constraint asks for. A mixture of ``&`` and ``|``, counts and
    brackets are left to Slurm."""
    if not constraint or _WORDS.fullmatch(constraint) is None or {"&", "|"} <= set(constraint):
        return True
    if "|" in constraint:
        return not features.isdisjoint(constraint.split("|"))
    return features.issuperset(constraint.split("&"))


def time_finding(ask: Ask, partitions: Sequence[Partition]) -> Finding:
    """Whether a partition lets tasks run for as long as they may."""
    where = f"partition {' or '.join(each.name for each in partitions)}"
    limits = [each.max_minutes for each in partitions]
    known = [each for each in limits if each is not None]
    if None not in limits and ask.minutes > max(known):
        return _TIME.fault(
            f"{ask.whose} may run {ask.minutes} minutes, and {where} allows {max(known)}: it would "
            "be refused, or wait for ever",
            "write a smaller max_seconds, or name another partition in converter.yaml",
        )
    return _TIME.ok(f"{ask.whose} may run {ask.minutes} minutes in {where}")


def priority_findings(config: Mapping[str, str], settings: SlurmSettings) -> Iterator[Finding]:
    """Whether a QOS, or an account, means anything there."""
    accounting = config.get("AccountingStorageType", "")
    named = [
        f"priority {name} (QOS {each.qos})"
        for name, each in settings.priorities.items()
        if each.qos
    ]
    if settings.account:
        named.append(f"account {settings.account}")
    if not named:
        return
    if accounting in _NO_ACCOUNTING:
        yield _PRIORITY.warning(
            f"this Slurm has no accounting, and takes any name for nothing: {first_few(named)}",
            "write nice in slurm.priorities, and take account and qos out",
        )
        return
    yield _PRIORITY.ok(f"Slurm has accounting, and checks names: {first_few(named)}")


def _limits(node: Node, partition: Partition, config: Mapping[str, str]) -> tuple[int, int]:
    everywhere = config.get("MaxMemPerNode", "")
    memory = [node.memory, *([int(everywhere)] if everywhere.isdecimal() else [])]
    if partition.max_memory is not None:
        # Of a partition it takes the place of the one for all.
        memory = [node.memory, partition.max_memory]
    cpus = [node.cpus, *([partition.max_cpus] if partition.max_cpus is not None else [])]
    return min(cpus), min(memory)


def _most(found: Sequence[tuple[Node, Partition]], config: Mapping[str, str]) -> str:
    limits = [(*_limits(node, partition, config), node.gpus) for node, partition in found]
    cpus, memory, gpus = (max(each) for each in zip(*limits, strict=True))
    return f"the most that one gives is {cpus} CPUs, {memory} MiB and {gpus} GPUs"
