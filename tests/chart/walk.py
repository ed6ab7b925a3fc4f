"""Every verb on every resource that an API server serves, and which of them an identity has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from chart.identities import Permission

from converter.cluster.client import Client
from converter.cluster.resources import Resource

AUTHORIZATION = "/apis/authorization.k8s.io/v1"
RULES_REVIEWS = Resource(
    AUTHORIZATION, "selfsubjectrulesreviews", "SelfSubjectRulesReview", namespaced=False
)
ACCESS_REVIEWS = Resource(
    AUTHORIZATION, "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
# Of what not every cluster has: who may hold TrainJobs may do so where there are any.
NOT_EVERYWHERE = frozenset({("trainer.kubeflow.org", "trainjobs")})
# What is asked for by these verbs is served nowhere, or is asked beside the verb of a request.
SPECIAL_VERBS = frozenset({"approve", "attest", "bind", "escalate", "impersonate", "sign", "use"})
SPECIAL_RESOURCES = frozenset(
    {
        ("", "users"),
        ("", "groups"),
        ("authentication.k8s.io", "uids"),
        ("authentication.k8s.io", "userextras/scopes"),
        ("certificates.k8s.io", "signers"),
    }
)


@dataclass(frozen=True)
class Served:
    """The resources of an API server, subresources among them, and every verb of any of them."""

    resources: frozenset[tuple[str, str]]
    verbs: frozenset[str]


@dataclass(frozen=True)
class Rights:
    """What an identity may do, by places, and the paths that it may ask for."""

    permissions: frozenset[Permission]
    paths: frozenset[str] = field(default=frozenset())


def served(client: Client) -> Served:
    """What discovery tells, in every version of every group."""
    paths = ["/api/v1"]
    for group in client.discover("/apis")["groups"]:
        paths += [f"/apis/{version['groupVersion']}" for version in group["versions"]]
    with ThreadPoolExecutor(8) as pool:
        lists = list(pool.map(client.discover, paths))
    found = {
        (_group(path), each["name"]): set(each["verbs"])
        for path, listed in zip(paths, lists, strict=True)
        for each in listed["resources"]
    }
    return Served(
        frozenset(found) | SPECIAL_RESOURCES | NOT_EVERYWHERE,
        frozenset().union(*found.values()) | SPECIAL_VERBS,
    )


def _group(path: str) -> str:
    return path.split("/")[2] if path.startswith("/apis/") else ""


def rights(client: Client, namespace: str, walked: Served) -> Rights:
    """What the identity of a client may do in a namespace and in the cluster.

    Each verb on each resource is held against the rules that the API server says apply to the
    identity. A rule about what is not served is an error: it would be for nothing, or for later.
    """
    answer = client.create(
        RULES_REVIEWS, "", _review("SelfSubjectRulesReview", {"namespace": namespace})
    )
    assert not answer["status"]["incomplete"]
    rules = answer["status"]["resourceRules"]
    granted = {
        (group, resource, name, verb)
        for (group, resource), verb in product(walked.resources, walked.verbs)
        for rule in rules
        if _covers(rule, group, resource, verb)
        for name in rule.get("resourceNames") or ["*"]
    }
    for rule in rules:
        named = product(rule["apiGroups"], rule["resources"], rule["verbs"])
        for group, resource, verb in named:
            assert "*" in (group, resource, verb) or any(
                each[:2] == (group, resource) and each[3] == verb for each in granted
            ), f"{verb} of {resource} in {group!r} is not served"
    paths = {
        f"{verb} {path}"
        for rule in answer["status"]["nonResourceRules"]
        for verb in rule["verbs"]
        for path in rule.get("nonResourceURLs") or ()
    }
    return Rights(frozenset(granted), frozenset(paths))


def _covers(rule: dict[str, Any], group: str, resource: str, verb: str) -> bool:
    """As RBAC reads a rule: `*` is anything, `*/scale` that subresource of anything."""
    subresource = resource.partition("/")[2]
    resources = {resource, "*"} | ({f"*/{subresource}"} if subresource else set())
    return (
        bool({group, "*"} & set(rule["apiGroups"]))
        and bool(resources & set(rule["resources"]))
        and bool({verb, "*"} & set(rule["verbs"]))
    )


@dataclass(frozen=True)
class Question:
    """May a ServiceAccount do this? `name` is empty for any object."""

    namespace: str
    account: str
    permission: Permission


def allowed(administrator: Client, asked: Question) -> bool:
    """The answer of the API server's authorizers, as a request would meet them."""
    group, resource, name, verb = asked.permission
    kind, _, subresource = resource.partition("/")
    attributes = {
        "namespace": asked.namespace,
        "verb": verb,
        "group": group,
        "resource": kind,
        "subresource": subresource,
        "name": "" if name == "*" else name,
    }
    spec = {
        "user": f"system:serviceaccount:{asked.namespace}:{asked.account}",
        "groups": [
            "system:serviceaccounts",
            f"system:serviceaccounts:{asked.namespace}",
            "system:authenticated",
        ],
        "resourceAttributes": attributes,
    }
    answer = administrator.create(ACCESS_REVIEWS, "", _review("SubjectAccessReview", spec))
    return bool(answer["status"]["allowed"])


def _review(kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": ""},
        "spec": spec,
    }


def lines(permissions: Iterable[Permission]) -> Iterator[str]:
    """A line for each resource, its verbs first."""
    verbs: dict[tuple[str, str], set[str]] = {}
    for group, resource, name, verb in permissions:
        kind, slash, subresource = resource.partition("/")
        of = f"{kind}.{group}" if group else kind
        verbs.setdefault((f"{of}{slash}{subresource}", name), set()).add(verb)
    for (resource, name), found in sorted(verbs.items()):
        named = "" if name == "*" else f" {name}"
        yield f"  {resource}{named}: {' '.join(sorted(found))}"
