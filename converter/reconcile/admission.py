"""Why Kueue could never admit a campaign: one function a rule, each a pure reading of values.

A Job that Kueue cannot admit waits for ever, and nothing anywhere calls that an error. A rule
says what is wrong and what to change, or nothing. What could not be read gives no objection: such
a campaign goes out unchecked.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from converter.cluster.objects import (
    Object,
    annotation,
    is_suspended,
    label,
    name,
    true_condition,
)
from converter.manifest import Manifest, Role
from converter.model import Settings
from converter.names import (
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    KUEUE_PRIORITY_LABEL,
    campaign_configmap,
)
from converter.quota import shortages
from converter.reconcile import rules
from converter.reconcile.landing import (
    Fit,
    PodSet,
    landings,
    node_labels,
    pod_set,
    tightest,
    uncovered,
)
from converter.reconcile.live import Live, workloads_of
from converter.reconcile.objection import Objection, queue_objection
from converter.reconcile.queue_chain import Missing, QueueChain
from converter.wording import spelt_labels


@dataclass(frozen=True, slots=True)
class Waiting:
    """A rendered Job that is to be admitted; `live` is the same Job where it is queued already."""

    job: Manifest
    live: Object | None = None

    @property
    def priority_class(self) -> str:
        """The WorkloadPriorityClass that the Job names; empty where it names none."""
        return label(self.job.body, KUEUE_PRIORITY_LABEL)


def waiting_jobs(manifests: Sequence[Manifest], live: Live) -> tuple[Waiting, ...]:
    """The Jobs that start, resume or wait with this apply.

    What has quota already is past all this, and a Job that is not suspended has it.
    """
    return tuple(_waiting(manifests, live))


def objections(waiting: Iterable[Waiting], chain: QueueChain, settings: Settings) -> dict[str, str]:
    """The first objection to each campaign that Kueue could never admit."""
    found: dict[str, str] = {}
    queue = queue_objection(chain, settings.namespace)
    for each in waiting:
        campaign = each.job.campaign
        reason = (
            queue
            or class_objection(each.priority_class, chain)
            or flavor_objection(each.job.size, chain, settings)
            or quota_objection(each, chain)
        )
        if reason and campaign not in found:
            found[campaign] = str(reason)
    return found


def class_objection(priority_class: str, chain: QueueChain) -> Objection | None:
    """Kueue makes no Workload for a Job whose WorkloadPriorityClass does not exist."""
    if not isinstance(chain.classes.get(priority_class), Missing):
        return None
    return Objection(
        "priority-class-missing",
        f"there is no WorkloadPriorityClass {priority_class} in the cluster, and Kueue would never "
        "queue a campaign of it",
        "have it created, or write another priority",
    )


def flavor_objection(size: str, chain: QueueChain, settings: Settings) -> Objection | None:
    """A size's flavor is another one on the cluster, so that its pods would land elsewhere."""
    wanted = settings.sizes[size].flavor if size in settings.sizes else None
    cluster_queue = chain.cluster_queue
    if wanted is None or not isinstance(cluster_queue, Mapping):
        return None
    ours = next(flavor.node_labels for flavor in settings.flavors if flavor.name == wanted)
    what = f"size {size} names flavor {wanted}, {spelt_labels(ours)} in converter.yaml"
    theirs = chain.flavors.get(wanted)
    if theirs is None:
        has = ", ".join(_spelt_flavors(chain)) or "none"
        return Objection(
            "flavor-missing",
            f"{what}, and ClusterQueue {name(cluster_queue)} has no flavor of that name (it has "
            f"{has})",
            "correct flavors in converter.yaml, or add it to the ClusterQueue",
        )
    if not isinstance(theirs, Mapping) or node_labels(theirs) == ours:
        return None
    return Objection(
        "flavor-differs",
        f"{what}, and that flavor of ClusterQueue {name(cluster_queue)} has node labels "
        f"{spelt_labels(node_labels(theirs))}",
        "write the same in flavors of converter.yaml and in the ResourceFlavor",
    )


def quota_objection(waiting: Waiting, chain: QueueChain) -> Objection | None:
    """The pods that Kueue admits at once, or with min_window that many, fit no flavor's quota."""
    cluster_queue = chain.cluster_queue
    if not isinstance(cluster_queue, Mapping):
        return None
    job = waiting.job
    pods = pod_set(job.body, waiting.live)
    if without := uncovered(pods, cluster_queue):
        return Objection(
            "resource-without-quota",
            f"its pods ask for {', '.join(without)}, of which ClusterQueue {name(cluster_queue)} "
            "has no quota, so it would be queued for ever",
            f"ask for none of it in {_size_of(job)}, or have a quota added",
        )
    groups = tuple(landings(pods, cluster_queue, chain.flavors))
    for group in groups:
        if not group.rooms:
            return Objection(
                "no-flavor",
                f"its pods, with node selector {spelt_labels(pods.node_selector)}, may land on no "
                f"flavor of ClusterQueue {name(cluster_queue)} ({'; '.join(group.refusals)})",
                "correct node_selector, tolerations or flavors in converter.yaml",
            )
    fit = tightest(groups)
    if fit is None or fit.pods >= pods.least:
        return None
    return Objection(
        "never-fits",
        f"{_shortage(pods, fit)}, so it would be queued for ever",
        _remedy(job, fit.pods),
    )


def _waiting(manifests: Sequence[Manifest], live: Live) -> Iterator[Waiting]:
    volumes = {each.name: each for each in manifests if each.role is Role.VOLUMES}
    for job in manifests:
        if job.role is not Role.CAMPAIGN or job.suspended:
            continue
        present = live.jobs.get(job.name)
        if rules.is_finished(rules.Part(job, volumes[campaign_configmap(job.name)]), live):
            continue
        if present is None or _is_queued(present, live):
            yield Waiting(job, present)


def _is_queued(job: Object, live: Live) -> bool:
    workloads = workloads_of(job, live.workloads)
    return is_suspended(job) and not any(true_condition(w, "QuotaReserved") for w in workloads)


def _spelt_flavors(chain: QueueChain) -> Iterator[str]:
    for flavor, read in chain.flavors.items():
        labels = f" {spelt_labels(node_labels(read))}" if isinstance(read, Mapping) else ""
        yield f"{flavor}{labels}"


def _shortage(pods: PodSet, fit: Fit) -> str:
    if not fit.pods:
        return f"one of its pods needs {next(shortages(fit.requests, 1, fit.room))}"
    return f"its pods at once need {next(shortages(fit.requests, pods.least, fit.room))}"


def _remedy(job: Manifest, largest: int) -> str:
    file = f"campaigns/{job.campaign}.yaml"
    if not largest:
        return f"ask for less in {_size_of(job)}, or have the quota raised"
    if annotation(job.body, KUEUE_MIN_PARALLELISM_ANNOTATION):
        return f"write min_window: {largest} or less in {file}"
    return f"write window: {largest} in {file}, or min_window: {largest} to start with fewer"


def _size_of(job: Manifest) -> str:
    if job.size:
        return f"size {job.size} in converter.yaml"
    return f"a size that pipelines/{job.pipeline}.yaml names"
