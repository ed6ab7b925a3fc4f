"""What the chart makes of its values, by helm template."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart.documents import UPDATE
from chart.helm import CHART, Helm, Object, Values, of_kind, permissions
from chart.identities import apply_in_namespace, in_cluster, viewer_in_namespace

from converter import __version__

GOLDEN = Path(__file__).parent / "golden" / "default.yaml"

TWO_FLAVORS: Values = {
    "queue": {
        "flavors": [
            {
                "name": "z100",
                "nodeLabels": {"node-type": "z100", "zone": "a"},
                "nodeTaints": [
                    {"key": "gpu", "value": "z100", "effect": "NoSchedule"},
                    {"key": "spot", "effect": "NoExecute"},
                ],
                "quota": {"nvidia.com/gpu": 8, "memory": "256Gi", "cpu": "64"},
            },
            {
                "name": "a-cpu",
                "nodeLabels": {"node-type": "cpu"},
                "quota": {"cpu": 0.5, "memory": 8589934592, "nvidia.com/gpu": 0},
            },
        ],
        "priorityClasses": [
            {"name": "urgent", "value": 1_000_000_000, "description": "Somebody: waits # for it"},
            {"name": "idle", "value": -10},
            {"name": "theirs", "create": False},
        ],
    }
}
EVERYTHING: Values = {
    **TWO_FLAVORS,
    "namespace": {"create": True},
    "apply": {"tokenSecret": {"create": True}},
    "viewer": {"enabled": True, "tokenSecret": {"create": True}},
    "holder": {"enabled": True, "tokenSecret": {"create": True}},
    "modelCache": {"create": True},
    "runtimeClass": {"create": True, "handler": "nvidia"},
}
ALL_VALUES = pytest.mark.parametrize(
    "values", [{}, TWO_FLAVORS, EVERYTHING], ids=["default", "flavors", "everything"]
)
NAMESPACED = {
    *("LocalQueue", "PersistentVolumeClaim", "Role", "RoleBinding", "Secret", "ServiceAccount"),
}


def cluster_queue(objects: list[Object]) -> dict[str, Any]:
    (queue,) = of_kind(objects, "ClusterQueue").values()
    spec: dict[str, Any] = queue["spec"]
    return spec


def quotas(objects: list[Object]) -> dict[str, dict[str, str]]:
    """Flavor to resource to quota, in Kueue's order."""
    (group,) = cluster_queue(objects)["resourceGroups"]
    for flavor in group["flavors"]:
        assert [r["name"] for r in flavor["resources"]] == group["coveredResources"]
    return {
        flavor["name"]: {r["name"]: r["nominalQuota"] for r in flavor["resources"]}
        for flavor in group["flavors"]
    }


def role_permissions(objects: list[Object], kind: str, name: str) -> set[tuple[str, str, str, str]]:
    return permissions(of_kind(objects, kind)[name]["rules"])


@ALL_VALUES
def test_lint(values: Values, helm: Helm) -> None:
    helm.run("lint", "--strict", CHART, "--values", helm.values_file(values))


def test_default_render(helm: Helm) -> None:
    """With `UPDATE`, the file is made anew."""
    if os.environ.get(UPDATE):
        namespace = ("--namespace", "campaigns")
        GOLDEN.write_text(helm.run("template", "campaigns", CHART, *namespace))
    assert helm.template() == [each for each in yaml.safe_load_all(GOLDEN.read_text()) if each]


def test_is_of_the_release_of_the_command() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["version"] == chart["appVersion"] == __version__


@ALL_VALUES
def test_every_object_has_labels_and_its_namespace(values: Values, helm: Helm) -> None:
    for rendered in helm.template(values, namespace="team"):
        metadata = rendered["metadata"]
        assert metadata["labels"]["app.kubernetes.io/instance"] == "campaigns"
        assert metadata["labels"]["app.kubernetes.io/name"] == "campaign-queue"
        namespaced = rendered["kind"] in NAMESPACED
        assert metadata.get("namespace") == ("team" if namespaced else None)


def test_two_releases_share_no_object(helm: Helm) -> None:
    def identities(release: str, namespace: str) -> set[tuple[str, str, str]]:
        values = {"viewer": {"enabled": True}, "modelCache": {"create": True}}
        objects = helm.template(values, release=release, namespace=namespace)
        return {
            (o["kind"], o["metadata"].get("namespace", ""), o["metadata"]["name"]) for o in objects
        }

    assert not identities("one", "team") & identities("two", "team")
    assert not identities("one", "team-1") & identities("two", "team-2")


def test_same_release_name_in_two_namespaces_needs_a_queue_name_only(helm: Helm) -> None:
    def cluster_wide(namespace: str, values: Values) -> set[tuple[str, str]]:
        objects = helm.template(values, namespace=namespace)
        return {(o["kind"], o["metadata"]["name"]) for o in objects if o["kind"] not in NAMESPACED}

    assert not cluster_wide("team-1", {}) & cluster_wide("team-2", {"queue": {"name": "other"}})


def test_names_of_the_queue(helm: Helm) -> None:
    objects = helm.template({"queue": {"name": "gpu"}}, namespace="team")
    (local,) = of_kind(objects, "LocalQueue").values()
    assert local["metadata"]["name"] == "gpu"
    assert local["spec"] == {"clusterQueue": "gpu-cq"}
    assert quotas(objects).keys() == {"gpu-flavor"} == of_kind(objects, "ResourceFlavor").keys()

    objects = helm.template({"queue": {"clusterQueueName": "shared", "flavor": "any"}})
    assert of_kind(objects, "ClusterQueue").keys() == {"shared"}
    assert of_kind(objects, "LocalQueue")["campaigns"]["spec"] == {"clusterQueue": "shared"}
    assert of_kind(objects, "ResourceFlavor").keys() == {"any"}


def test_names_that_look_like_numbers_stay_names(helm: Helm) -> None:
    values = {
        "queue": {"name": "12", "flavor": "1e3", "priorityClasses": [{"name": "007", "value": 7}]},
        "apply": {"serviceAccount": {"name": "0"}},
    }
    objects = helm.template(values, release="34", namespace="56")
    assert {o["metadata"]["name"] for o in objects} == {
        "12", "12-cq", "1e3", "007", "0", "56:0",
        "56.34.images", "56.34.pods", "56.34.queue", "56.34.writers",
    }  # fmt: skip
    assert "12" in {
        name
        for rule in of_kind(objects, "Role")["0"]["rules"]
        for name in rule.get("resourceNames", [])
    }


def test_cluster_queue_admits_this_namespace_only_and_preempts_nothing(helm: Helm) -> None:
    spec = cluster_queue(helm.template(namespace="team"))
    del spec["resourceGroups"]
    assert spec == {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "team"}},
        "queueingStrategy": "BestEffortFIFO",
        "stopPolicy": "None",
        "preemption": {"withinClusterQueue": "Never", "reclaimWithinCohort": "Never"},
    }


def test_strategy_and_stop_policy(helm: Helm) -> None:
    values = {"queue": {"queueingStrategy": "StrictFIFO", "stopPolicy": "HoldAndDrain"}}
    spec = cluster_queue(helm.template(values))
    assert (spec["queueingStrategy"], spec["stopPolicy"]) == ("StrictFIFO", "HoldAndDrain")


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ({}, {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"}),
        ({"nvidia.com/gpu": None}, {"cpu": "4", "memory": "8Gi"}),
        (
            {"nvidia.com/gpu": 0, "amd.com/gpu": 2, "pods": 50},
            {"amd.com/gpu": "2", "cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "0", "pods": "50"},
        ),
        (
            {"cpu": 1.5, "memory": 1_099_511_627_776},
            {"cpu": "1.5", "memory": "1099511627776", "nvidia.com/gpu": "1"},
        ),
        (
            {"cpu": "500m", "memory": "0.5Gi"},
            {"cpu": "500m", "memory": "0.5Gi", "nvidia.com/gpu": "1"},
        ),
    ],
    ids=["default", "without GPU", "other resources", "numbers", "units"],
)
def test_quota_of_the_single_flavor(quota: Values, expected: Values, helm: Helm) -> None:
    assert quotas(helm.template({"queue": {"quota": quota}})) == {"campaigns-flavor": expected}


def test_flavors_replace_the_single_one_and_keep_their_order(helm: Helm) -> None:
    objects = helm.template(TWO_FLAVORS)
    found = quotas(objects)
    assert list(found) == ["z100", "a-cpu"]
    assert found == {
        "z100": {"cpu": "64", "memory": "256Gi", "nvidia.com/gpu": "8"},
        "a-cpu": {"cpu": "0.5", "memory": "8589934592", "nvidia.com/gpu": "0"},
    }
    flavors = of_kind(objects, "ResourceFlavor")
    assert flavors.keys() == found.keys()
    assert flavors["a-cpu"]["spec"] == {"nodeLabels": {"node-type": "cpu"}}
    assert flavors["z100"]["spec"] == {
        "nodeLabels": {"node-type": "z100", "zone": "a"},
        "nodeTaints": [
            {"key": "gpu", "value": "z100", "effect": "NoSchedule"},
            {"key": "spot", "effect": "NoExecute"},
        ],
        "tolerations": [
            {"key": "gpu", "operator": "Equal", "value": "z100", "effect": "NoSchedule"},
            {"key": "spot", "operator": "Equal", "effect": "NoExecute"},
        ],
    }


def test_priority_classes(helm: Helm) -> None:
    classes = of_kind(helm.template(TWO_FLAVORS), "WorkloadPriorityClass")
    assert {name: (c["value"], c.get("description")) for name, c in classes.items()} == {
        "urgent": (1_000_000_000, "Somebody: waits # for it"),
        "idle": (-10, None),
    }


def test_apply_may_do_what_the_table_says_and_no_more(helm: Helm) -> None:
    objects = helm.template(TWO_FLAVORS, namespace="team")
    assert role_permissions(objects, "Role", "campaigns-apply") == apply_in_namespace(
        "campaigns", "team"
    )
    assert role_permissions(objects, "ClusterRole", "team:campaigns-apply") == in_cluster(
        "campaigns-cq", ["z100", "a-cpu"], ["urgent", "idle", "theirs"]
    )


def test_viewer_may_do_what_the_table_says_and_no_more(helm: Helm) -> None:
    assert not [o for o in helm.template() if "viewer" in o["metadata"]["name"]]
    objects = helm.template({"viewer": {"enabled": True}}, namespace="team")
    assert role_permissions(objects, "Role", "campaigns-viewer") == viewer_in_namespace(
        "campaigns", "team"
    )
    assert role_permissions(objects, "ClusterRole", "team:campaigns-viewer") == in_cluster(
        "campaigns-cq", ["campaigns-flavor"]
    )


@ALL_VALUES
def test_the_cluster_wide_rules_always_name_objects(values: Values, helm: Helm) -> None:
    """A rule with empty resourceNames allows every object of the kind."""
    roles = of_kind(helm.template(values), "ClusterRole").values()
    assert all(rule["resourceNames"] for role in roles for rule in role["rules"])


@ALL_VALUES
def test_bindings_bind_each_identity_to_its_own_roles(values: Values, helm: Helm) -> None:
    objects = helm.template(values, namespace="team")
    accounts = of_kind(objects, "ServiceAccount")
    bindings = [o for o in objects if o["kind"].endswith("RoleBinding")]
    of_cluster = [name for name in accounts if name != "campaigns-holder"]
    assert len(bindings) == len(accounts) + len(of_cluster)
    for binding in bindings:
        (subject,) = binding["subjects"]
        assert binding["metadata"]["name"] == binding["roleRef"]["name"]
        assert binding["roleRef"]["name"].removeprefix("team:") == subject["name"]
        assert binding["roleRef"]["kind"] + "Binding" == binding["kind"]
        assert subject["kind"] == "ServiceAccount"
        assert subject["namespace"] == "team"
        assert subject["name"] in accounts
    assert not any(account["automountServiceAccountToken"] for account in accounts.values())


def test_no_identity(helm: Helm) -> None:
    values = {"apply": {"enabled": False}, "security": {"policies": {"enabled": False}}}
    kinds = {o["kind"] for o in helm.template(values)}
    assert kinds == {"ClusterQueue", "LocalQueue", "ResourceFlavor"}


def test_service_account_that_exists(helm: Helm) -> None:
    values = {"apply": {"serviceAccount": {"create": False, "name": "ci"}}}
    objects = helm.template(values, namespace="team")
    assert not of_kind(objects, "ServiceAccount")
    assert of_kind(objects, "RoleBinding")["ci"]["subjects"][0]["name"] == "ci"
    assert of_kind(objects, "ClusterRoleBinding")["team:ci"]["subjects"][0]["name"] == "ci"


def test_annotations_of_the_service_account(helm: Helm) -> None:
    annotations = {"iam.example.org/role": "campaigns"}
    objects = helm.template({"apply": {"serviceAccount": {"annotations": annotations}}})
    account = of_kind(objects, "ServiceAccount")["campaigns-apply"]
    assert account["metadata"]["annotations"] == annotations


def test_token_secret(helm: Helm) -> None:
    secrets = of_kind(helm.template(EVERYTHING), "Secret")
    assert {
        name: (secret["type"], secret["metadata"]["annotations"])
        for name, secret in secrets.items()
    } == {
        f"{account}-token": (
            "kubernetes.io/service-account-token",
            {"kubernetes.io/service-account.name": account},
        )
        for account in ("campaigns-apply", "campaigns-viewer", "campaigns-holder")
    }


def test_namespace_is_no_object_unless_asked_for(helm: Helm) -> None:
    assert not of_kind(helm.template(), "Namespace")
    created = of_kind(helm.template({"namespace": {"create": True}}, namespace="team"), "Namespace")
    metadata = created["team"]["metadata"]
    assert metadata["annotations"] == {"helm.sh/resource-policy": "keep"}
    assert pod_security(metadata) == {
        "enforce": "restricted",
        "enforce-version": "latest",
        "audit": "restricted",
        "audit-version": "latest",
        "warn": "restricted",
        "warn-version": "latest",
    }


def test_pod_security_levels_of_a_created_namespace(helm: Helm) -> None:
    levels = {"enforce": "baseline", "audit": "", "warn": "restricted", "version": "v1.35"}
    values = {"namespace": {"create": True, "podSecurity": levels}}
    (created,) = of_kind(helm.template(values), "Namespace").values()
    assert pod_security(created["metadata"]) == {
        "enforce": "baseline",
        "enforce-version": "v1.35",
        "warn": "restricted",
        "warn-version": "v1.35",
    }


def pod_security(metadata: dict[str, Any]) -> dict[str, str]:
    prefix = "pod-security.kubernetes.io/"
    labels = metadata["labels"].items()
    return {key.removeprefix(prefix): level for key, level in labels if key.startswith(prefix)}


def test_as_a_part_of_another_chart(helm: Helm, tmp_path: Path) -> None:
    """Helm hands `global` to a subchart; a strict schema has to take it."""
    parent = tmp_path / "platform"
    shutil.copytree(CHART, parent / "charts" / "campaign-queue")
    (parent / "Chart.yaml").write_text("apiVersion: v2\nname: platform\nversion: 1.0.0\n")
    values = {"global": {"team": "a"}, "campaign-queue": {"queue": {"name": "gpu"}}}
    assert "gpu-cq" in of_kind(helm.template(values, chart=parent), "ClusterQueue")


def converter_yaml(notes: str) -> dict[str, Any]:
    """The indented block of the notes that starts with `namespace:`."""
    block = notes.partition("these values:\n\n")[2].partition("\n\n")[0]
    settings: dict[str, Any] = yaml.safe_load(block)
    return settings


def test_notes_say_what_converter_yaml_must_say(helm: Helm) -> None:
    assert converter_yaml(helm.notes()) == {
        "namespace": "team",
        "queue": "campaigns",
        "quota": {"cpu": 4, "memory": "8Gi", "nvidia.com/gpu": 1},
    }
    assert converter_yaml(helm.notes(TWO_FLAVORS)) == {
        "namespace": "team",
        "queue": "campaigns",
        "priority_classes": ["urgent", "idle", "theirs"],
        "flavors": TWO_FLAVORS["queue"]["flavors"],
    }


def test_notes_say_how_to_get_a_token(helm: Helm) -> None:
    assert "kubectl create token campaigns-apply --namespace team" in helm.notes()
    without = helm.notes({"apply": {"enabled": False}})
    assert "create token" not in without
    assert "No identity" in without


def test_notes_ask_for_pod_security_unless_the_chart_sets_it(helm: Helm) -> None:
    assert "kubectl label namespace team pod-security" in helm.notes()
    assert "kubectl label" not in helm.notes({"namespace": {"create": True}})
