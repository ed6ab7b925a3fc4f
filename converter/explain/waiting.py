"""Campaigns that are in the queue: without room there, or about to leave it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from converter.cluster.objects import Object, annotation, name, true_condition
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.room import has_to_borrow, most_free, table
from converter.explain.text import listed
from converter.names import KUEUE_MIN_PARALLELISM_ANNOTATION
from converter.observe.phase import Phase
from converter.quota import shortages
from converter.reconcile.landing import (
    Group,
    PodSet,
    landings,
    pod_set,
    tightest,
    uncovered,
)
from converter.wording import said, spelt_labels

# What Kueue says of each flavor that a pod's node selector excludes.
_MISMATCHES: Final = re.compile(r"flavor \S+ doesn't match node affinity(?:, )?")


def without_room(part: Part) -> Iterator[Cause]:
    """A Workload without quota, each resource against each flavor."""
    pending = _pending(part)
    if pending is None:
        return
    chain = part.chain
    cluster_queue = chain.cluster_queue if chain else None
    message = _kueue_says(pending)
    if chain is None or not isinstance(cluster_queue, Mapping):
        if message:
            yield Cause("inadmissible", f"Kueue does not admit it: {message}", _SMALLER)
        return
    pods = pod_set(part.job, part.job)
    says = (f"Kueue says: {message}",) if message else ()
    if without := uncovered(pods, cluster_queue):
        yield Cause(
            "resource-without-quota",
            f"its pods ask for {listed(without)}, of which ClusterQueue {name(cluster_queue)} has "
            "no quota",
            f"ask for none of it in {part.facts.size}, or have a quota added",
            says,
        )
        return
    groups = tuple(landings(pods, cluster_queue, chain.flavors))
    details = (*table(groups, pods, cluster_queue), *_refusals(part, groups))
    known = list(_by_room(part, pods, groups, cluster_queue, (*details, *says)))
    yield from known
    if known:
        return
    if message and any(has_to_borrow(group, pods.least, cluster_queue) for group in groups):
        yield Cause(
            "queue-full",
            f"its quota is in use, and its cohort lends it no more: {message}",
            f"wait until others end; {_SMALLER}",
            details,
        )
    elif message:
        yield Cause("inadmissible", f"Kueue does not admit it: {message}", "", details)
    elif part.status.place is None:
        yield Cause("inadmissible", "Kueue has not tried it", "", details)


def being_admitted(part: Part) -> Iterator[Cause]:
    """One that has its quota and has not started."""
    if part.status.phase is not Phase.WAITING:
        return
    for workload in part.workloads:
        if not true_condition(workload, "QuotaReserved"):
            continue
        checks = (workload.get("status") or {}).get("admissionChecks") or ()
        for check in checks:
            if check.get("state") != "Ready":
                yield Cause(
                    "admission-check",
                    f"it has its quota and waits for the admission check {said(check.get('name'))} "
                    f"({said(check.get('state'))}): {said(check.get('message')) or 'no message'}",
                    "ask the platform team what this admission check waits for",
                )
                return
        if true_condition(workload, "Evicted") is None:
            yield Cause("starting", "Kueue has admitted it, and its pods are about to start")
            return


_SMALLER = "ask for less at once (window in the campaign's file), or have the quota raised"


def _pending(part: Part) -> Object | None:
    if part.status.phase is not Phase.WAITING:
        return None
    found = (each for each in part.workloads if not true_condition(each, "QuotaReserved"))
    return next(found, None)


def _kueue_says(workload: Object) -> str:
    for condition in (workload.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "QuotaReserved" and condition.get("status") == "False":
            message = str(condition.get("message") or "")
            rest = said(_MISMATCHES.sub("", message)).rstrip(" .")
            return said(message) if rest.endswith(":") else rest
    return ""


def _by_room(
    part: Part,
    pods: PodSet,
    groups: Sequence[Group],
    cluster_queue: Object,
    details: tuple[str, ...],
) -> Iterator[Cause]:
    of = f"ClusterQueue {name(cluster_queue)}"
    if any(not group.rooms for group in groups):
        yield Cause(
            "no-flavor",
            f"its pods, with node selector {spelt_labels(pods.node_selector)}, may land on no "
            f"flavor of {of}{_of_wanted(part, groups)}",
            "the labels and taints of a flavor have to be the same in converter.yaml (flavors, "
            "node_selector, tolerations) and in the ResourceFlavor",
            details,
        )
        return
    fit = tightest(groups)
    if fit is not None and fit.pods < pods.least:
        lacking = next(shortages(fit.requests, pods.least if fit.pods else 1, fit.room))
        what = "its pods at once need" if fit.pods else "one of its pods needs"
        yield Cause(
            "never-fits", f"it can never start: {what} {lacking}", _fitting(part, fit.pods), details
        )
        return
    for group in groups:
        free = most_free(group, cluster_queue)
        if free is not None and free.pods < pods.least:
            lacking = next(shortages(group.requests, pods.least, free.room))
            fewer = f"; {_window(part, free.pods)} would start now" if free.pods else ""
            yield Cause(
                "queue-full",
                f"its quota is in use: it needs {lacking.pods} x {lacking.request} "
                f"{lacking.resource} at once, and {free.room.quota[lacking.resource]} is free in "
                f"{free.room.of}",
                f"wait until others end{fewer}",
                details,
            )
            return


def _wanted_flavor(part: Part) -> str:
    """The flavor that its size names; empty where the size may have any."""
    settings = part.facts.settings
    size = settings.sizes.get(part.facts.status.size)
    return (size.flavor or "") if size else ""


def _refusals(part: Part, groups: Sequence[Group]) -> tuple[str, ...]:
    """Why pods may not land on flavors; with a size that names one, the others matter little."""
    wanted = _wanted_flavor(part)
    refusals = [refusal for group in groups for refusal in group.refusals]
    if wanted and all(group.rooms for group in groups):
        return ()
    return tuple(dict.fromkeys(f"flavor {refusal}" for refusal in refusals))


def _of_wanted(part: Part, groups: Sequence[Group]) -> str:
    wanted = f"{_wanted_flavor(part)} "
    refusals = [refusal for group in groups for refusal in group.refusals]
    named = next((each for each in refusals if each.startswith(wanted)), "")
    return f": flavor {named}" if named else ""


def _fitting(part: Part, largest: int) -> str:
    if largest:
        return f"write {_window(part, largest)} in {part.facts.file}, or have the quota raised"
    return (
        f"ask for less in {part.facts.size}, in a new campaign file in place of this one (the pods "
        "of a Job that is there cannot change), or have the quota raised"
    )


def _window(part: Part, pods: int) -> str:
    partial = annotation(part.job, KUEUE_MIN_PARALLELISM_ANNOTATION)
    return f"min_window: {pods}" if partial else f"window: {pods}"
