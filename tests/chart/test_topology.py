"""Cohort, preemption, teams, the holder, the model cache and the RuntimeClass, by helm template."""

from __future__ import annotations

from typing import Any

import pytest
from chart.helm import CHART, Helm, Object, Values, of_kind, permissions
from chart.identities import (
    apply_in_namespace,
    holder_in_namespace,
    in_cluster,
    viewer_in_namespace,
)

NEVER = {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"}
FLAVORS = [
    {
        "name": "a100",
        "nodeLabels": {"node-type": "a100"},
        "quota": {"cpu": 64, "memory": "256Gi", "nvidia.com/gpu": 8, "pods": 100},
        "borrowingLimit": {"nvidia.com/gpu": 4, "cpu": "32"},
        "lendingLimit": {"nvidia.com/gpu": 0, "memory": "0.25Ti", "cpu": "64000m"},
    },
    {
        "name": "fpga",
        "nodeLabels": {"node-type": "fpga"},
        "quota": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 0, "pods": 10},
    },
]
TEAMS: Values = {
    "teams": [
        {"namespace": "maps", "queue": "maps-queue", "stopPolicy": "Hold"},
        {"namespace": "letters"},
    ],
    "viewer": {"enabled": True},
    "holder": {"enabled": True},
}
VALUE_SETS = {
    "teams": TEAMS,
    "cohort": {"queue": {"cohort": "all", "borrowingLimit": {"cpu": 1}, "quota": {"pods": 3}}},
    "flavors in a cohort": {"queue": {"cohort": "all", "flavors": FLAVORS}},
    "preemption": {
        "queue": {
            "cohort": "all",
            "preemption": {
                "withinClusterQueue": "LowerOrNewerEqualPriority",
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": {"policy": "LowerPriority"},
            },
        }
    },
    "model cache": {"modelCache": {"create": True, "storageClass": "-"}, **TEAMS},
    "RuntimeClass": {"runtimeClass": {"create": True, "handler": "nvidia"}},
}


def in_namespaces(objects: list[Object], kind: str) -> dict[tuple[str, str], Object]:
    """The objects of a kind by namespace and name."""
    return {
        (o["metadata"]["namespace"], o["metadata"]["name"]): o for o in objects if o["kind"] == kind
    }


def cluster_queue(helm: Helm, values: Values) -> dict[str, Any]:
    (queue,) = of_kind(helm.template(values), "ClusterQueue").values()
    spec: dict[str, Any] = queue["spec"]
    return spec


@pytest.mark.parametrize("values", VALUE_SETS.values(), ids=VALUE_SETS.keys())
def test_lint(values: Values, helm: Helm) -> None:
    helm.run("lint", "--strict", CHART, "--values", helm.values_file(values))


def test_a_cohort_comes_with_no_limit_and_no_preemption(helm: Helm) -> None:
    assert "cohortName" not in cluster_queue(helm, {})
    spec = cluster_queue(helm, {"queue": {"cohort": "all"}})
    assert spec["cohortName"] == "all"
    assert spec["preemption"] == NEVER
    ((flavor,),) = (group["flavors"] for group in spec["resourceGroups"])
    assert {key for resource in flavor["resources"] for key in resource} == {"name", "nominalQuota"}


def test_limits_stand_beside_their_quota(helm: Helm) -> None:
    single = {"cohort": "all", "borrowingLimit": {"cpu": 0.5}, "lendingLimit": {"memory": "8Gi"}}
    ((flavor,),) = (
        group["flavors"] for group in cluster_queue(helm, {"queue": single})["resourceGroups"]
    )
    assert flavor["resources"] == [
        {"name": "cpu", "nominalQuota": "4", "borrowingLimit": "0.5"},
        {"name": "memory", "nominalQuota": "8Gi", "lendingLimit": "8Gi"},
        {"name": "nvidia.com/gpu", "nominalQuota": "1"},
    ]
    (group,) = cluster_queue(helm, VALUE_SETS["flavors in a cohort"])["resourceGroups"]
    assert group["coveredResources"] == ["cpu", "memory", "nvidia.com/gpu", "pods"]
    a100, fpga = (flavor["resources"] for flavor in group["flavors"])
    assert a100 == [
        {"name": "cpu", "nominalQuota": "64", "borrowingLimit": "32", "lendingLimit": "64000m"},
        {"name": "memory", "nominalQuota": "256Gi", "lendingLimit": "0.25Ti"},
        {"name": "nvidia.com/gpu", "nominalQuota": "8", "borrowingLimit": "4", "lendingLimit": "0"},
        {"name": "pods", "nominalQuota": "100"},
    ]
    assert not any(key.endswith("Limit") for resource in fpga for key in resource)


@pytest.mark.parametrize(
    ("preemption", "expected"),
    [
        ({"withinClusterQueue": "LowerPriority"}, {**NEVER, "withinClusterQueue": "LowerPriority"}),
        ({"reclaimWithinCohort": "Any"}, {**NEVER, "reclaimWithinCohort": "Any"}),
        (
            {"reclaimWithinCohort": "Any", "borrowWithinCohort": {"policy": "LowerPriority"}},
            {
                **NEVER,
                "reclaimWithinCohort": "Any",
                "borrowWithinCohort": {"policy": "LowerPriority"},
            },
        ),
    ],
    ids=["within the queue", "reclaim", "borrow"],
)
def test_preemption(preemption: Values, expected: Values, helm: Helm) -> None:
    values = {"queue": {"cohort": "all", "preemption": preemption}}
    assert cluster_queue(helm, values)["preemption"] == expected


def test_each_team_has_a_local_queue_of_the_one_cluster_queue(helm: Helm) -> None:
    objects = helm.template(TEAMS)
    queues = in_namespaces(objects, "LocalQueue")
    assert {key: queue["spec"] for key, queue in queues.items()} == {
        ("campaigns", "campaigns"): {"clusterQueue": "campaigns-cq"},
        ("maps", "maps-queue"): {"clusterQueue": "campaigns-cq", "stopPolicy": "Hold"},
        ("letters", "campaigns"): {"clusterQueue": "campaigns-cq"},
    }
    assert cluster_queue(helm, TEAMS)["namespaceSelector"] == {
        "matchExpressions": [
            {
                "key": "kubernetes.io/metadata.name",
                "operator": "In",
                "values": ["campaigns", "maps", "letters"],
            }
        ]
    }


def test_each_team_has_identities_for_its_own_namespace(helm: Helm) -> None:
    objects = helm.template(TEAMS)
    roles = in_namespaces(objects, "Role")
    for namespace, queue in (
        ("campaigns", "campaigns"),
        ("maps", "maps-queue"),
        ("letters", "campaigns"),
    ):
        expected = {
            "campaigns-apply": apply_in_namespace(queue, namespace),
            "campaigns-viewer": viewer_in_namespace(queue, namespace),
            "campaigns-holder": holder_in_namespace(),
        }
        for account, rights in expected.items():
            assert permissions(roles.pop((namespace, account))["rules"]) == rights
    assert not roles
    assert in_namespaces(objects, "ServiceAccount").keys() == in_namespaces(objects, "Role").keys()
    for role in of_kind(objects, "ClusterRole").values():
        assert permissions(role["rules"]) == in_cluster("campaigns-cq", ["campaigns-flavor"])


def test_bindings_bind_a_teams_identity_to_its_own_roles(helm: Helm) -> None:
    objects = helm.template(TEAMS)
    bound = set()
    for binding in [o for o in objects if o["kind"].endswith("RoleBinding")]:
        (subject,) = binding["subjects"]
        role = binding["roleRef"]["name"]
        place = binding["metadata"].get("namespace")
        own = subject["name"] if place else f"{subject['namespace']}:{subject['name']}"
        assert role == own == binding["metadata"]["name"]
        assert place in (None, subject["namespace"])
        bound.add((binding["kind"], subject["namespace"], subject["name"]))
    accounts = in_namespaces(objects, "ServiceAccount")
    assert bound == {
        (kind, *account)
        for account in accounts
        for kind in ("RoleBinding", "ClusterRoleBinding")
        if kind == "RoleBinding" or account[1] != "campaigns-holder"
    }
    assert len(accounts) == 9


def test_an_existing_service_account_is_that_of_each_team(helm: Helm) -> None:
    account = {"serviceAccount": {"create": False, "name": "ci"}}
    objects = helm.template({**TEAMS, "apply": account})
    assert ("maps", "ci") not in in_namespaces(objects, "ServiceAccount")
    (subject,) = in_namespaces(objects, "RoleBinding")["maps", "ci"]["subjects"]
    assert subject == {"kind": "ServiceAccount", "name": "ci", "namespace": "maps"}


def test_the_holder_is_off_by_default(helm: Helm) -> None:
    assert not [o for o in helm.template() if "holder" in o["metadata"]["name"]]


def test_model_cache(helm: Helm) -> None:
    assert not of_kind(helm.template(), "PersistentVolumeClaim")
    claims = of_kind(helm.template({"modelCache": {"create": True}}), "PersistentVolumeClaim")
    claim = claims["campaigns-model-cache"]
    assert claim["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert claim["spec"] == {
        "accessModes": ["ReadWriteMany"],
        "resources": {"requests": {"storage": "30Gi"}},
    }


@pytest.mark.parametrize(
    ("storage_class", "expected"), [("fast.ssd", {"storageClassName": "fast.ssd"}),
                                    ("-", {"storageClassName": ""}), ("", {})],
)  # fmt: skip
def test_model_cache_of_each_team(storage_class: str, expected: Values, helm: Helm) -> None:
    cache = {
        "create": True,
        "name": "models",
        "size": "2Ti",
        "storageClass": storage_class,
        "accessModes": ["ReadWriteOnce"],
    }
    claims = in_namespaces(helm.template({**TEAMS, "modelCache": cache}), "PersistentVolumeClaim")
    assert claims.keys() == {(team, "models") for team in ("campaigns", "maps", "letters")}
    assert claims["maps", "models"]["spec"] == {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "2Ti"}},
        **expected,
    }


@pytest.mark.parametrize(("given", "name"), [("", "nvidia"), ("gpu.fast", "gpu.fast")])
def test_runtime_class(given: str, name: str, helm: Helm) -> None:
    assert not of_kind(helm.template(), "RuntimeClass")
    values = {"runtimeClass": {"create": True, "name": given, "handler": "nvidia"}}
    assert of_kind(helm.template(values), "RuntimeClass")[name]["handler"] == "nvidia"


def test_notes_say_what_converter_yaml_of_each_team_must_say(helm: Helm) -> None:
    values = {
        **TEAMS,
        "queue": {"cohort": "all", "flavors": FLAVORS},
        "modelCache": {"create": True},
        "runtimeClass": {"create": True, "handler": "nvidia"},
    }
    notes = helm.notes(values)
    assert "Limit" not in notes
    assert "data_pvc: campaigns-model-cache\n   runtime_class: nvidia\n" in notes
    assert "namespace: maps\n   queue: maps-queue\n" in notes
    assert "namespace: letters\n   queue: campaigns\n" in notes
    assert "another team" not in helm.notes()
