"""The namespace: whether it is there, and which pods it takes."""

from collections.abc import Mapping
from typing import Final

from converter.cluster.objects import is_being_deleted, label
from converter.doctor.finding import Check, Finding, Group
from converter.reconcile.queue_chain import Missing, Read

ENFORCE: Final = "pod-security.kubernetes.io/enforce"
_NAMESPACE: Final = Check(Group.NAMESPACE, "namespace")
_POD_SECURITY: Final = Check(Group.NAMESPACE, "pod-security")


def namespace_findings(name: str, namespace: Read) -> tuple[Finding, ...]:
    """Whether it exists, and its Pod Security level (campaigns' pods keep to "restricted")."""
    if isinstance(namespace, Missing):
        found = f"there is no namespace {name}"
        remedy = "have it created, or correct namespace in converter.yaml"
        return (_NAMESPACE.fault(found, remedy),)
    if not isinstance(namespace, Mapping):
        found = f"namespace {name} and its Pod Security level: {namespace.why}"
        return (_NAMESPACE.unknown(found, f"have `get` on the namespace {name} granted"),)
    if is_being_deleted(namespace):
        remedy = "wait until it is gone, and have it created again"
        return (_NAMESPACE.fault(f"namespace {name} is being deleted", remedy),)
    return _NAMESPACE.ok(f"namespace {name} exists"), _pod_security(name, label(namespace, ENFORCE))


def _pod_security(name: str, level: str) -> Finding:
    if level == "restricted":
        return _POD_SECURITY.ok("only pods of Pod Security level restricted are let in")
    what = f"enforces Pod Security level {level}" if level else "enforces no Pod Security level"
    return _POD_SECURITY.warning(
        f"namespace {name} {what}: campaigns keep to restricted, and nothing makes others do so",
        f"have the namespace labelled {ENFORCE}=restricted",
    )
