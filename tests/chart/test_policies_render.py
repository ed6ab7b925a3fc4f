"""What of the policies and NetworkPolicies is seen without a cluster."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart.helm import CHART, Helm, HelmError, Object, Values, of_kind
from chart.policy_objects import NAMESPACE, QUEUE, VALUES
from unit.render.samples import SAMPLES

from converter.render import render

DOCUMENT = Path(__file__).parents[2] / "docs" / "policies.md"
POLICY = "ValidatingAdmissionPolicy"
BINDING = "ValidatingAdmissionPolicyBinding"
ALL = {"queue", "images", "pods", "writers"}


def policies(helm: Helm, security: Values, **settings: Any) -> dict[str, Object]:
    """The policies by the last part of their name."""
    found = of_kind(helm.template({"security": security, **settings}), POLICY)
    return {name.rpartition(".")[2]: policy for name, policy in found.items()}


def test_each_policy_has_its_binding_in_the_namespaces_of_all_teams(helm: Helm) -> None:
    objects = helm.template({"teams": [{"namespace": "maps"}, {"namespace": "prints"}]})
    bindings = of_kind(objects, BINDING)
    for name in of_kind(objects, POLICY):
        spec = bindings.pop(name)["spec"]
        assert spec["policyName"] == name
        assert spec["validationActions"] == ["Deny"]
        (selected,) = spec["matchResources"]["namespaceSelector"]["matchExpressions"]
        assert selected == {
            "key": "kubernetes.io/metadata.name",
            "operator": "In",
            "values": ["campaigns", "maps", "prints"],
        }
    assert not bindings


def test_no_two_releases_share_a_policy(helm: Helm) -> None:
    releases = [("a.b", "c"), ("b", "c"), ("c", "b"), ("a", "c")]
    names = [
        set(of_kind(helm.template(release=release, namespace=namespace), POLICY))
        for release, namespace in releases
    ]
    assert sum(map(len, names)) == len(set().union(*names))


def test_a_failure_of_a_policy_refuses(helm: Helm) -> None:
    assert {each["spec"]["failurePolicy"] for each in policies(helm, {}).values()} == {"Fail"}


@pytest.mark.parametrize(
    ("security", "kept"),
    [
        ({}, ALL),
        ({"policies": {"enabled": False}}, set()),
        ({"allowImageTags": True}, ALL - {"images"}),
        ({"allowImageTags": True, "allowedImageRepos": ["ghcr.io/team"]}, ALL),
    ],
)
def test_policies_that_have_nothing_to_say_are_left_out(
    security: Values, kept: set[str], helm: Helm
) -> None:
    assert policies(helm, security).keys() == kept


def test_tags_are_taken_where_the_values_say_so(helm: Helm) -> None:
    one = policies(helm, {"allowImageTags": True, "allowedImageRepos": ["ghcr.io/team"]})
    (rule,) = one["images"]["spec"]["validations"]
    assert "ghcr.io/team" in rule["messageExpression"]


def test_the_kueue_of_the_values_is_the_one_that_may(helm: Helm) -> None:
    for policy in policies(helm, {"policies": {"kueueUsers": ["kueue-here"]}}).values():
        text = str(policy)
        assert "kueue-here" in text
        assert "kueue-controller-manager" not in text


def test_controllers_are_those_of_kubernetes_and_of_the_values(helm: Helm) -> None:
    """Not every account of kube-system."""
    for policy in policies(helm, {"policies": {"controllerUsers": ["manager-here"]}}).values():
        text = str(policy)
        assert "system:serviceaccount:kube-system:'" not in text
        assert ("manager-here" in text) is ("job-controller" in text)
    text = str(policies(helm, {"policies": {"controllerUsers": ["manager-here"]}}))
    assert text.count("manager-here") == text.count("system:kube-controller-manager") > 0


@pytest.mark.parametrize(
    "repository", ["localhost/ocr", "localhost:5000", "mirror:5000/a/b", "a.b"]
)
def test_a_repository_is_one_with_its_host(repository: str, helm: Helm) -> None:
    assert repository in str(policies(helm, {"allowedImageRepos": [repository]})["images"])


def test_actions_are_those_of_the_values(helm: Helm) -> None:
    objects = helm.template({"security": {"policies": {"actions": ["Warn", "Audit"]}}})
    actions = [each["spec"]["validationActions"] for each in of_kind(objects, BINDING).values()]
    assert actions == [["Warn", "Audit"]] * 4


def messages(policy: Object) -> list[str]:
    """What stands in a policy's messages, without what an expression puts between."""
    found: list[str] = []
    for rule in policy["spec"]["validations"]:
        if "message" in rule:
            found.append(rule["message"])
        else:
            # A string that ends a line goes on in the next one.
            joined = re.sub(r"'\s*\+\s*'", "", rule["messageExpression"])
            found += re.findall(r"'([^']{3,})'", joined)
    return found


def test_the_document_has_every_message(helm: Helm) -> None:
    text = DOCUMENT.read_text()
    repositories = " or ".join(VALUES["security"]["allowedImageRepos"])
    objects = helm.template(VALUES, release=QUEUE, namespace=NAMESPACE)
    found = [m for policy in of_kind(objects, POLICY).values() for m in messages(policy)]
    assert len(found) > 20
    for message in found:
        known = message.replace(repositories, "<repositories>").replace(QUEUE, "<release>")
        assert known.strip() in text


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"security": {"policies": {"actions": ["Deny", "Warn"]}}}, "/security/policies/actions"),
        ({"security": {"policies": {"actions": []}}}, "/security/policies/actions"),
        ({"security": {"policies": {"queues": [""]}}}, "/security/policies/queues/0"),
        ({"security": {"allowedImageRepos": ["ghcr.io/team/"]}}, "/security/allowedImageRepos/0"),
        ({"security": {"allowedImageRepos": ["team"]}}, "/security/allowedImageRepos/0"),
        ({"security": {"allowedImageRepos": ["team/ocr"]}}, "/security/allowedImageRepos/0"),
        ({"security": {"allowedImageRepos": ["ghcr.io/T"]}}, "/security/allowedImageRepos/0"),
        ({"security": {"allowedImageRepos": ["a/b:tag"]}}, "/security/allowedImageRepos/0"),
        ({"security": {"allowedImageRepos": ["a/b'"]}}, "/security/allowedImageRepos/0"),
        ({"network": {"egress": [{"from": []}]}}, "/network/egress/0"),
        ({"network": {"egress": [{"to": []}]}}, "/network/egress/0/to"),
        ({"network": {"egress": [{"ports": [{"port": 0}]}]}}, "/network/egress/0/ports/0/port"),
        ({"network": {"egress": [{"ports": []}]}}, "/network/egress/0/ports"),
        ({"network": {"egress": [{"ports": [{"port": "80"}]}]}}, "/network/egress/0/ports/0/port"),
        (
            {"network": {"egress": [{"to": [{"ipBlock": {"cidr": "192.0.2.1"}}]}]}},
            "/network/egress/0/to/0/ipBlock/cidr",
        ),
        ({"network": {"dns": {"to": [{}]}}}, "/network/dns/to/0"),
        ({"viewer": {"serviceAccount": {"name": "default"}}}, "/viewer/serviceAccount/name"),
    ],
)
def test_values_that_mean_nothing_are_refused(values: Values, words: str, helm: Helm) -> None:
    with pytest.raises(HelmError, match=re.escape(f"at '{words}'")):
        helm.template(values)


def test_the_notes_say_who_is_bound(helm: Helm) -> None:
    assert "unless you are in\nsystem:masters, maria." in helm.notes(
        {"security": {"policies": {"exemptUsers": ["maria"]}}}
    )
    for security, words in (
        ({"policies": {"enabled": False}}, "Nothing refuses Jobs"),
        ({"policies": {"actions": ["Audit"]}}, "is let through"),
        ({"allowImageTags": True}, "can mean another image tomorrow"),
    ):
        assert words in helm.notes({"security": security})
    assert "tomorrow" not in helm.notes()


def network(helm: Helm, **settings: Any) -> dict[str, Object]:
    """The NetworkPolicies of two teams, by namespace and name."""
    values = {**VALUES, "network": {"enabled": True, **settings}}
    objects = helm.template(values, release=QUEUE, namespace=NAMESPACE)
    return {
        f"{each['metadata']['namespace']}/{each['metadata']['name']}": each["spec"]
        for each in objects
        if each["kind"] == "NetworkPolicy"
    }


def selects(spec: Object, labels: dict[str, str]) -> bool:
    wanted: dict[str, str] = spec["podSelector"].get("matchLabels", {})
    return wanted.items() <= labels.items()


DNS = {
    "ports": [{"port": 53, "protocol": "UDP"}, {"port": 53, "protocol": "TCP"}],
    "to": [
        {
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kube-system"}},
            "podSelector": {"matchLabels": {"k8s-app": "kube-dns"}},
        }
    ],
}


def test_no_network_policy_unless_asked_for(helm: Helm) -> None:
    assert of_kind(helm.template(), "NetworkPolicy") == {}


def test_nothing_goes_in_or_out_but_what_is_listed(helm: Helm) -> None:
    egress = [{"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}]}]
    found = network(helm, egress=egress)
    for namespace in (NAMESPACE, f"{NAMESPACE}-maps"):
        deny = found.pop(f"{namespace}/{QUEUE}-deny")
        assert deny == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
        campaigns = found.pop(f"{namespace}/{QUEUE}-campaigns")
        assert campaigns["policyTypes"] == ["Egress"]
        assert campaigns["egress"] == [DNS, *egress]
        for repo in SAMPLES.values():
            for manifest in render(repo):
                if manifest.kind == "Job":
                    labels = manifest.body["spec"]["template"]["metadata"]["labels"]
                    assert selects(campaigns, labels)
    tool = found.pop(f"{NAMESPACE}/{QUEUE}-tool")
    assert tool["egress"] == [DNS, {}]
    assert not found


def test_each_pod_of_the_chart_is_the_tool_s(helm: Helm) -> None:
    tool = network(helm)[f"{NAMESPACE}/{QUEUE}-tool"]
    objects = helm.template(VALUES, release=QUEUE, namespace=NAMESPACE)
    (test,) = of_kind(objects, "Pod").values()
    (cron,) = of_kind(objects, "CronJob").values()
    for pod in (test, cron["spec"]["jobTemplate"]["spec"]["template"]):
        assert selects(tool, pod["metadata"]["labels"])


def test_dns_that_is_nowhere_is_no_rule(helm: Helm) -> None:
    found = network(helm, dns={"to": []}, toolEgress=[])
    assert found[f"{NAMESPACE}/{QUEUE}-campaigns"]["egress"] == []
    assert found[f"{NAMESPACE}/{QUEUE}-tool"]["egress"] == []


def test_the_example_of_the_values_is_one(helm: Helm) -> None:
    text = (CHART / "values.yaml").read_text()
    example = re.search(r"(?m)^  # - to: (.*)\n  #   ports: (.*)$", text)
    assert example is not None
    rule = {"to": yaml.safe_load(example[1]), "ports": yaml.safe_load(example[2])}
    assert network(helm, egress=[rule])[f"{NAMESPACE}/{QUEUE}-campaigns"]["egress"][1] == rule
