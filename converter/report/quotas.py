"""How much of each quota is in use, lent and free. Pure.

Reads ``spec.resourceGroups`` and ``status.flavorsReservation`` of a ClusterQueue: what has quota
reserved counts, whether or not its pods run by now.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Final

from converter.cluster.objects import Object, name
from converter.explain.text import listed
from converter.quantity import parse_quantity
from converter.quota import CPU, units
from converter.reconcile.objection import cluster_queue_objection
from converter.reconcile.queue_chain import Missing, QueueChain, Read, Unknown
from converter.report.model import FlavorUsage, Quota, Usage

_BYTES: Final = ("memory", "storage", "ephemeral-storage", "hugepages-2Mi", "hugepages-1Gi")
_SUFFIXES: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")


def quota_of(chain: QueueChain | None) -> Quota:
    """The quota behind the LocalQueue, or why it is not known."""
    if chain is None:
        return Quota(unread="it was not read")
    if why := _unread(chain.local_queue, f"LocalQueue {chain.queue}"):
        return Quota(unread=why)
    found = chain.cluster_queue
    if not isinstance(found, Mapping):
        return Quota(unread=_unread(found, "ClusterQueue of this LocalQueue"))
    return Quota(name(found), tuple(_flavors(found)), _state(found))


def spelt(resource: str, number: int) -> str:
    """An amount in the units of `quota.units` as people read it: cores, bytes or pieces."""
    if resource == CPU:
        return f"{number / 1000:,.10g}"
    if resource not in _BYTES:
        return f"{number:,}"
    amount, power = Fraction(number), 0
    while amount >= 1024 and power < len(_SUFFIXES) - 1:
        amount, power = amount / 1024, power + 1
    return f"{float(amount):.4g}{_SUFFIXES[power]}"


def _unread(read: Read | None, what: str) -> str:
    match read:
        case Missing():
            return f"there is no {what}"
        case Unknown(why):
            return why
        case None:
            return f"the {what} was not read"
    return ""


def _state(cluster_queue: Object) -> str:
    """Why it admits nothing; empty where it does."""
    found = cluster_queue_objection(cluster_queue)
    return f"{found.what}." if found else ""


def _flavors(cluster_queue: Object) -> Iterator[FlavorUsage]:
    reserved = (cluster_queue.get("status") or {}).get("flavorsReservation") or ()
    in_use = {
        (str(flavor["name"]), str(each["name"])): each
        for flavor in reserved
        for each in flavor.get("resources") or ()
    }
    cohort = str(cluster_queue["spec"].get("cohortName") or "")
    for group in cluster_queue["spec"].get("resourceGroups") or ():
        for flavor in group["flavors"]:
            of = str(flavor["name"])
            resources = flavor["resources"]
            usages = (_usage(each, in_use.get((of, str(each["name"])), {})) for each in resources)
            yield FlavorUsage(of, tuple(usages), _lends(resources, cohort))


def _usage(quota: Object, use: Object) -> Usage:
    resource = str(quota["name"])

    def amount(quantity: object) -> int:
        return units(resource, parse_quantity(str(quantity or "0")))

    nominal, used = amount(quota["nominalQuota"]), amount(use.get("total"))
    borrowed = min(amount(use.get("borrowed")), used)
    length = max(nominal, used, 1)
    return Usage(
        resource=resource,
        nominal=spelt(resource, nominal),
        used=spelt(resource, used),
        borrowed=spelt(resource, borrowed) if borrowed else "",
        free=spelt(resource, max(nominal - used, 0)),
        used_share=_percent(used - borrowed, length),
        borrowed_share=_percent(borrowed, length),
        nominal_share=_percent(nominal, length),
    )


def _lends(resources: Sequence[Object], cohort: str) -> tuple[str, ...]:
    """A sentence for those without a limit, and one for each that has one."""
    if not cohort:
        return ()
    free = [str(each["name"]) for each in resources if each.get("borrowingLimit") is None]
    limits = (
        (str(each["name"]), str(each["borrowingLimit"]))
        for each in resources
        if each.get("borrowingLimit") is not None
    )
    spelt_limits = (
        f"may borrow {spelt(resource, most)} {resource} from cohort {cohort}"
        for resource, limit in limits
        if (most := units(resource, parse_quantity(limit)))
    )
    unlimited = f"may borrow {listed(free)} that others of cohort {cohort} leave free"
    return (*((unlimited,) if free else ()), *spelt_limits)


def _percent(part: int, whole: int) -> float:
    return round(100 * part / whole, 2)
