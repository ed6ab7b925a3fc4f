"""What each command asks of an API server, and what no campaigns identity should be allowed.

The Roles of the chart are compared with these tables by a test, so that neither drifts.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from converter.model import Backend
from converter.names import LEASE_NAME

KUEUE: Final = "kueue.x-k8s.io"
TRAINER: Final = "trainer.kubeflow.org"
VISIBILITY: Final = "visibility.kueue.x-k8s.io"
KOORD: Final = "scheduling.x-k8s.io"


class Purpose(StrEnum):
    """What an identity is for."""

    APPLY = "apply"
    VIEW = "view"
    HOLD = "hold"


class Command(StrEnum):
    """A command that asks the cluster."""

    APPLY = "apply"
    DIFF = "diff"
    STATUS = "status"
    EXPLAIN = "explain"
    REPORT = "report"
    HOLD = "hold"
    RELEASE = "release"
    HOLDS = "holds"
    DOCTOR = "doctor"

    @property
    def purposes(self) -> frozenset[Purpose]:
        """The identities that it is run with: diff asks for dry runs of what apply would send.

        Doctor looks at much that is no business of the one that holds.
        """
        if self is Command.DOCTOR:
            return frozenset({Purpose.APPLY, Purpose.VIEW})
        if self in (Command.HOLD, Command.RELEASE, Command.HOLDS):
            return frozenset({Purpose.HOLD})
        writes = (Command.APPLY, Command.DIFF)
        return frozenset({Purpose.APPLY if self in writes else Purpose.VIEW})


class Named(StrEnum):
    """Which objects of a resource; their names are those of one cluster."""

    ANY = "*"
    LEASE = LEASE_NAME
    NAMESPACE = "the namespace"
    QUEUE = "the LocalQueue"
    CLUSTER_QUEUE = "the ClusterQueue"
    FLAVORS = "its ResourceFlavors"
    CLASSES = "the priority classes"


@dataclass(frozen=True, slots=True)
class Need:
    """A permission, and the commands that fail without it, and those that tell less without it."""

    group: str
    resource: str
    verb: str
    named: Named = Named.ANY
    needed_by: frozenset[Command] = frozenset()
    helps: frozenset[Command] = frozenset()
    namespaced: bool = True

    @property
    def purposes(self) -> frozenset[Purpose]:
        """The identities that should have it."""
        return frozenset().union(*(each.purposes for each in self.needed_by | self.helps))


_APPLY: Final = frozenset({Command.APPLY})
_DIFF: Final = frozenset({Command.DIFF})
_SENDING: Final = _APPLY | _DIFF
_VIEWING: Final = frozenset({Command.STATUS, Command.EXPLAIN, Command.REPORT})
# `apply --wait` and `status --watch`, which ask every few seconds without it.
_FOLLOWING: Final = frozenset({Command.APPLY, Command.STATUS})
_HOLDING: Final = frozenset({Command.HOLD, Command.RELEASE})
_ABOUT_HOLDS: Final = _HOLDING | {Command.HOLDS}
_CHECKING: Final = frozenset({Command.DOCTOR})
_EVERY: Final = frozenset(Command) - _ABOUT_HOLDS
_NOBODY: Final[frozenset[Command]] = frozenset()


def _needs(
    group: str,
    resource: str,
    verbs: str,
    needed_by: frozenset[Command],
    helps: frozenset[Command] = _NOBODY,
    named: Named = Named.ANY,
    *,
    namespaced: bool = True,
) -> Iterator[Need]:
    for verb in verbs.split():
        yield Need(group, resource, verb, named, needed_by, helps, namespaced)


# Server-side apply needs both create and patch: the API server asks for create when there is no
# object. A create cannot be limited to a name. Who may list reads whole objects, and needs no get:
# that is for a Job that was deleted and has to be gone, for what changed during a diff, and for the
# object of a hold. A hold is an update, since that is bound to what was read.
NEEDS: Final = (
    *_needs("batch", "jobs", "list", _SENDING | _VIEWING | _ABOUT_HOLDS),
    *_needs("batch", "jobs", "get", _SENDING | _HOLDING),
    *_needs("batch", "jobs", "create patch", _SENDING),
    *_needs("batch", "jobs", "delete", _APPLY),
    *_needs("batch", "jobs", "watch", _NOBODY, _FOLLOWING),
    *_needs("", "configmaps", "list", _SENDING | _VIEWING),
    *_needs("", "configmaps", "get", _DIFF),
    *_needs("", "configmaps", "create patch", _SENDING),
    *_needs("", "configmaps", "delete", _APPLY),
    *_needs("", "configmaps", "watch", _NOBODY, _FOLLOWING),
    *_needs("", "pods", "list", _NOBODY, _VIEWING),
    *_needs("", "events", "list", _NOBODY, _VIEWING),
    *_needs("", "events", "create", _NOBODY, _HOLDING),
    *_needs(KUEUE, "workloads", "list", _SENDING | _VIEWING | _ABOUT_HOLDS, _CHECKING),
    *_needs(KUEUE, "workloads", "get update", _HOLDING),
    *_needs(TRAINER, "trainjobs", "get", _HOLDING),
    *_needs(KUEUE, "workloads", "patch delete", _APPLY),
    *_needs(KUEUE, "workloads", "watch", _NOBODY, _FOLLOWING),
    *_needs("coordination.k8s.io", "leases", "create", _APPLY),
    *_needs("coordination.k8s.io", "leases", "get update", _APPLY, named=Named.LEASE),
    *_needs("", "namespaces", "get", _NOBODY, _CHECKING, Named.NAMESPACE),
    *_needs(KUEUE, "localqueues", "get", _NOBODY, _EVERY, Named.QUEUE),
    *_needs(VISIBILITY, "localqueues/pendingworkloads", "get", _NOBODY, _VIEWING, Named.QUEUE),
    *(
        Need(KUEUE, resource, "get", named, helps=_EVERY, namespaced=False)
        for resource, named in (
            ("clusterqueues", Named.CLUSTER_QUEUE),
            ("resourceflavors", Named.FLAVORS),
            ("workloadpriorityclasses", Named.CLASSES),
        )
    ),
)


# Without Kueue nobody asks for its objects; a hold of a QueueUnit touches its Job.
_OF_KUEUE: Final = (KUEUE, VISIBILITY, TRAINER)
_SHARED: Final = tuple(each for each in NEEDS if each.group not in _OF_KUEUE)
_OF_BACKEND: Final[Mapping[Backend, tuple[Need, ...]]] = {
    Backend.KUEUE: NEEDS,
    Backend.KOORD_QUEUE: (
        *_SHARED,
        *_needs(KOORD, "queueunits", "list", _SENDING | _VIEWING | _ABOUT_HOLDS),
        *_needs(KOORD, "queueunits", "patch", _APPLY),
        *_needs(KOORD, "queueunits", "get update", _HOLDING),
        *_needs(KOORD, "queueunits", "watch", _NOBODY, _FOLLOWING),
        *_needs("batch", "jobs", "patch", _NOBODY, _HOLDING),
    ),
    Backend.NONE: (
        *_SHARED,
        *_needs("batch", "jobs", "update", _HOLDING),
        *_needs("", "pods", "list", _HOLDING),
        *_needs(TRAINER, "trainjobs", "list", frozenset({Command.HOLDS})),
        *_needs(TRAINER, "trainjobs", "get update", _HOLDING),
    ),
}


def needs_of(backend: Backend) -> tuple[Need, ...]:
    """What the commands need with a backend."""
    return _OF_BACKEND[backend]


@dataclass(frozen=True, slots=True)
class Access:
    """One question to the API server: may this identity do this?

    `resource` may have a subresource after a slash; an empty `name` stands for any object, an empty
    `namespace` for the cluster.
    """

    group: str
    resource: str
    verb: str
    name: str = ""
    namespace: str = ""

    def __str__(self) -> str:
        group = f".{self.group}" if self.group else ""
        resource, _, subresource = self.resource.partition("/")
        of = f"{resource}{group}" + (f"/{subresource}" if subresource else "")
        return f"{self.verb} {of}" + (f" {self.name}" if self.name else "")


# What no identity needs for campaigns, and what harm it can do.
EVERYTHING: Final = Access("*", "*", "*")


def excesses(namespace: str) -> tuple[Access, ...]:
    """Rights that would make a stolen CI token worth more than campaigns.

    The API server takes a request about a namespace for one in that namespace.
    """
    in_namespace = [
        Access("", "secrets", verb, namespace=namespace) for verb in ("get", "list")
    ] + [
        Access("", "pods", "create", namespace=namespace),
        Access("", "pods/exec", "create", namespace=namespace),
        Access("rbac.authorization.k8s.io", "rolebindings", "create", namespace=namespace),
    ]
    of_cluster = [
        Access("", "nodes", "delete"),
        Access("", "namespaces", "delete", namespace, namespace),
        Access(KUEUE, "clusterqueues", "patch"),
        Access(KUEUE, "resourceflavors", "patch"),
    ]
    return (*in_namespace, *of_cluster)


def questions(
    need: Need, names: Mapping[Named, Iterable[str]], namespace: str
) -> tuple[Access, ...]:
    """The questions that a need comes to; none where no name is known to ask about."""
    known = ("",) if need.named is Named.ANY else tuple(names.get(need.named, ()))
    place = namespace if need.namespaced else ""
    return tuple(Access(need.group, need.resource, need.verb, name, place) for name in known)
