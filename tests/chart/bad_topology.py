"""Queues, teams and identities that the chart refuses, each with the sentence that it gives."""

from __future__ import annotations

from typing import Any

from chart.bad import QUOTA, Bad, flavor, flavors
from chart.helm import Values

COHORT = {"cohort": "all"}
MANY = {f"example.com/r{n}": 1 for n in range(7)}


def limited(name: str, limits: dict[str, Any], **queue: object) -> Values:
    """A limit of the single flavor, whose quota is 4 cpu and 8Gi of memory."""
    return {"queue": {name: limits, **queue}}


def preempting(cohort: str = "", **preemption: object) -> Values:
    return {"queue": {"cohort": cohort, "preemption": preemption}}


def lends(resource: str, lent: object, quota: object) -> Bad:
    return Bad(
        f"lends {lent} of {quota}",
        limited("lendingLimit", {resource: lent}, **COHORT, quota={resource: quota}),
        f'flavor "campaigns-flavor" lends {lent} of {resource} and has a quota of {quota}; '
        "lend at most that",
    )


REFUSED_BY_TEMPLATES = [
    *(
        Bad(
            f"{limit} without a cohort",
            limited(limit, {"cpu": 1}),
            f'flavor "campaigns-flavor" has a {limit} and queue.cohort is empty; '
            "name the cohort, or leave the limit out",
        )
        for limit in ("borrowingLimit", "lendingLimit")
    ),
    Bad(
        "limit of one of several flavors without a cohort",
        flavors(flavor("a", {"x": "1"}), flavor("b", {"x": "2"}, borrowingLimit={"cpu": 1})),
        'flavor "b" has a borrowingLimit and queue.cohort is empty; '
        "name the cohort, or leave the limit out",
    ),
    Bad(
        "limit of what there is no quota of",
        limited("borrowingLimit", {"amd.com/gpu": 1}, **COHORT),
        'flavor "campaigns-flavor" has a borrowingLimit of amd.com/gpu and no quota of it; '
        "add it to the quota, or leave the limit out",
    ),
    Bad(
        "limit of the single flavor beside several",
        {"queue": {**flavors(flavor("a", {"x": "1"}))["queue"], "borrowingLimit": {"cpu": 1}}},
        "queue.borrowingLimit is that of the single flavor; with queue.flavors, write it in each "
        "flavor",
    ),
    lends("cpu", 5, 4),
    lends("cpu", "4001m", 4),
    lends("cpu", 0.5, "499m"),
    lends("memory", "9G", "8Gi"),
    lends("memory", "1e12", "900Gi"),
    lends("memory", "2Ti", 1_099_511_627_776),
    Bad(
        "borrows by preemption and reclaims nothing",
        preempting("all", borrowWithinCohort={"policy": "LowerPriority"}),
        "queue.preemption: Kueue refuses borrowWithinCohort.policy LowerPriority with "
        "reclaimWithinCohort Never; set reclaimWithinCohort to LowerPriority or Any, or the "
        "policy to Never",
    ),
    Bad(
        "reclaims without a cohort",
        preempting(reclaimWithinCohort="Any"),
        "queue.preemption: reclaimWithinCohort is Any and queue.cohort is empty; "
        "name the cohort, or write Never",
    ),
    Bad(
        "more quotas than Kueue takes",
        flavors(
            *(flavor(f"f{n}", {"x": str(n)}, quota={**QUOTA, **MANY}) for n in range(57)),
        ),
        "queue.flavors: 57 flavors with 9 resources each are more quotas than the 512 that Kueue "
        "takes; leave some out",
    ),
    *(
        Bad(
            f"team {namespace} twice",
            {"teams": [{"namespace": "maps"}, {"namespace": namespace, "queue": "other"}]},
            f'teams: namespace "{namespace}" is there twice (the release\'s own is a team without '
            "being listed); name each once",
        )
        for namespace in ("maps", "campaigns")
    ),
    Bad(
        "one ServiceAccount for apply and holder",
        {"holder": {"enabled": True, "serviceAccount": {"name": "campaigns-apply"}}},
        'apply and holder share the ServiceAccount "campaigns-apply" and would add up their '
        "rights; give each its own",
    ),
    Bad(
        "RuntimeClass without a handler",
        {"runtimeClass": {"create": True, "name": "nvidia"}},
        "runtimeClass.handler is empty; name the handler that the container runtime of the nodes "
        "has",
    ),
]

REFUSED_BY_SCHEMA = [
    Bad(
        "unknown preemption policy",
        preempting(withinClusterQueue="Any"),
        "at '/queue/preemption/withinClusterQueue': value must be one of "
        "'Never', 'LowerPriority', 'LowerOrNewerEqualPriority'",
    ),
    Bad(
        "cohort in upper case",
        {"queue": {"cohort": "All"}},
        "at '/queue/cohort': 'All' does not match pattern",
    ),
    Bad(
        "limit below nothing",
        limited("borrowingLimit", {"cpu": -1}),
        "at '/queue/borrowingLimit/cpu': minimum: got -1, want 0",
    ),
    Bad(
        "limit of a resource of no domain",
        limited("borrowingLimit", {"gpu": 1}),
        "at '/queue/borrowingLimit': additional properties 'gpu' not allowed",
    ),
    Bad(
        "no pod",
        {"queue": {"quota": {"pods": 0}}},
        "at '/queue/quota/pods': exclusiveMinimum: got 0, want 0",
    ),
    Bad(
        "team without a namespace",
        {"teams": [{"queue": "maps"}]},
        "at '/teams/0': missing property 'namespace'",
    ),
    Bad(
        "team's namespace with a dot",
        {"teams": [{"namespace": "a.b"}]},
        "at '/teams/0/namespace': 'a.b' does not match pattern",
    ),
    Bad(
        "unknown key of a team",
        {"teams": [{"namespace": "a", "quota": {}}]},
        "at '/teams/0': additional properties 'quota' not allowed",
    ),
    Bad(
        "team that is stopped otherwise",
        {"teams": [{"namespace": "a", "stopPolicy": "Stop"}]},
        "at '/teams/0/stopPolicy': value must be one of 'None', 'Hold', 'HoldAndDrain'",
    ),
    Bad(
        "no access mode",
        {"modelCache": {"accessModes": []}},
        "at '/modelCache/accessModes': minItems: got 0, want 1",
    ),
    Bad(
        "access mode of a single pod",
        {"modelCache": {"accessModes": ["ReadWriteOncePod"]}},
        "at '/modelCache/accessModes/0': value must be one of",
    ),
    Bad(
        "access mode twice",
        {"modelCache": {"accessModes": ["ReadWriteOnce", "ReadWriteOnce"]}},
        "at '/modelCache/accessModes': items at 0 and 1 are equal",
    ),
    Bad(
        "cache of nothing",
        {"modelCache": {"size": "0Gi"}},
        "at '/modelCache/size': '0Gi' does not match pattern",
    ),
    Bad(
        "handler with a dot",
        {"runtimeClass": {"handler": "a.b"}},
        "at '/runtimeClass/handler': 'a.b' does not match pattern",
    ),
]
