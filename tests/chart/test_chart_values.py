"""Values that the chart refuses, each with the sentence that it gives."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml
from chart import bad_in_cluster, bad_topology
from chart.bad import QUOTA, Bad, flavor, flavors, quota
from chart.helm import CHART, Helm, HelmError, Values
from chart.schema import SCHEMA, objects_of

TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
INDISTINCT = (
    'queue.flavors: "a" and "b" share no label key with different values, so a node could be '
    "counted for both, and a pod meant for one be admitted on the other; give both a label such as "
    "node-type, each with its own value"
)

REFUSED_BY_TEMPLATES = [
    Bad(
        "flavor name twice",
        flavors(flavor("a", {"x": "1"}), flavor("a", {"x": "2"})),
        'queue.flavors: two flavors are named "a"; give each a name of its own',
    ),
    Bad(
        "flavors with the same labels",
        flavors(flavor("a", {"x": "1"}), flavor("b", {"x": "1"})),
        INDISTINCT,
    ),
    Bad(
        "flavors with other label keys",
        flavors(flavor("a", {"x": "1"}), flavor("b", {"y": "1"})),
        INDISTINCT,
    ),
    Bad(
        "flavor with more labels",
        flavors(flavor("a", {"x": "1"}), flavor("b", {"x": "1", "y": "1"})),
        INDISTINCT,
    ),
    Bad(
        "only neighbours are distinct",
        flavors(
            flavor("a", {"x": "1", "y": "1"}),
            flavor("c", {"x": "2", "y": "2"}),
            flavor("b", {"x": "1", "z": "1"}),
        ),
        INDISTINCT,
    ),
    Bad(
        "quota without a resource that another has",
        flavors(
            flavor("a", {"x": "1"}),
            flavor("b", {"x": "2"}, quota={**QUOTA, "nvidia.com/gpu": 1}),
        ),
        'queue.flavors: the quota of "a" lacks nvidia.com/gpu, which another flavor has; '
        "write it, 0 for none",
    ),
    Bad(
        "taint twice",
        flavors(flavor("a", {"x": "1"}, nodeTaints=[TAINT, {**TAINT, "value": "no"}])),
        'queue.flavors: "a" has two taints gpu:NoSchedule; '
        "a node can have one of each key and effect",
    ),
    Bad(
        "priority class twice",
        {"queue": {"priorityClasses": [{"name": "a", "value": 1}, {"name": "a", "create": False}]}},
        'queue.priorityClasses: two classes are named "a"; give each a name of its own',
    ),
    Bad(
        "value for another's priority class",
        {"queue": {"priorityClasses": [{"name": "a", "value": 1, "create": False}]}},
        'queue.priorityClasses: "a" has create: false, so this release does not set it; '
        "leave out its value and description",
    ),
    Bad(
        "existing ServiceAccount without a name",
        {"apply": {"serviceAccount": {"create": False}}},
        "apply.serviceAccount.name is empty; "
        "with create: false, name the ServiceAccount that exists",
    ),
    Bad(
        "one ServiceAccount for both identities",
        {"viewer": {"enabled": True, "serviceAccount": {"name": "campaigns-apply"}}},
        'apply and viewer share the ServiceAccount "campaigns-apply" and would add up their '
        "rights; give each its own",
    ),
    *bad_topology.REFUSED_BY_TEMPLATES,
    *bad_in_cluster.REFUSED_BY_TEMPLATES,
]

REFUSED_BY_SCHEMA = [
    Bad("unknown key", {"cueue": {}}, "at '': additional properties 'cueue' not allowed"),
    Bad(
        "unknown key of queue",
        {"queue": {"nme": "x"}},
        "at '/queue': additional properties 'nme' not allowed",
    ),
    Bad(
        "unknown key of a flavor",
        flavors(flavor("a", {"x": "1"}, taints=[])),
        "at '/queue/flavors/0': additional properties 'taints' not allowed",
    ),
    Bad("upper case", {"queue": {"name": "GPU"}}, "at '/queue/name': 'GPU' does not match pattern"),
    Bad(
        "name too long for a label",
        {"queue": {"name": "q" * 64}},
        "at '/queue/name': maxLength: got 64, want 63",
    ),
    Bad(
        "empty label of a name",
        {"queue": {"clusterQueueName": "a..b"}},
        "at '/queue/clusterQueueName': 'a..b' does not match pattern",
    ),
    Bad(
        "unknown strategy",
        {"queue": {"queueingStrategy": "FIFO"}},
        "at '/queue/queueingStrategy': value must be one of 'BestEffortFIFO', 'StrictFIFO'",
    ),
    Bad(
        "unknown stop policy",
        {"queue": {"stopPolicy": "Stop"}},
        "at '/queue/stopPolicy': value must be one of 'None', 'Hold', 'HoldAndDrain'",
    ),
    Bad("no memory", quota(memory=None), "at '/queue/quota': missing property 'memory'"),
    Bad("no cpu", quota(cpu=None), "at '/queue/quota': missing property 'cpu'"),
    Bad("cpu of nothing", quota(cpu=0), "at '/queue/quota/cpu': exclusiveMinimum: got 0, want 0"),
    Bad("memory of nothing", quota(memory="0Gi"), "'0Gi' does not match pattern"),
    Bad("unknown unit", quota(memory="8GB"), "at '/queue/quota/memory': '8GB' does not match"),
    Bad(
        "less than nothing",
        quota(nvidia__gpu=-1),
        "at '/queue/quota/nvidia~1gpu': minimum: got -1, want 0",
    ),
    Bad(
        "resource of no domain",
        quota(gpu=1),
        "at '/queue/quota': additional properties 'gpu' not allowed",
    ),
    Bad(
        "flavor without labels",
        flavors({"name": "a", "quota": QUOTA}),
        "at '/queue/flavors/0': missing property 'nodeLabels'",
    ),
    Bad(
        "flavor with no label",
        flavors(flavor("a", {})),
        "at '/queue/flavors/0/nodeLabels': minProperties: got 0, want 1",
    ),
    Bad(
        "flavor without quota",
        flavors({"name": "a", "nodeLabels": {"x": "1"}}),
        "at '/queue/flavors/0': missing property 'quota'",
    ),
    Bad(
        "flavor without a name",
        flavors(flavor("", {"x": "1"})),
        "at '/queue/flavors/0/name': minLength: got 0, want 1",
    ),
    Bad(
        "label that YAML reads as no string",
        flavors(flavor("a", {"gpu": True})),
        "at '/queue/flavors/0/nodeLabels/gpu': got boolean, want string",
    ),
    Bad(
        "label key with a space",
        flavors(flavor("a", {"node type": "a"})),
        "at '/queue/flavors/0/nodeLabels': additional properties 'node type' not allowed",
    ),
    Bad(
        "more labels than Kueue takes",
        flavors(flavor("a", {f"x{n}": "1" for n in range(9)})),
        "at '/queue/flavors/0/nodeLabels': maxProperties: got 9, want 8",
    ),
    Bad(
        "more taints than Kueue takes",
        flavors(flavor("a", {"x": "1"}, nodeTaints=[{**TAINT, "key": f"t{n}"} for n in range(9)])),
        "at '/queue/flavors/0/nodeTaints': maxItems: got 9, want 8",
    ),
    Bad(
        "unknown effect",
        flavors(flavor("a", {"x": "1"}, nodeTaints=[{**TAINT, "effect": "NoPods"}])),
        "value must be one of 'NoSchedule', 'PreferNoSchedule', 'NoExecute'",
    ),
    Bad(
        "taint with an operator",
        flavors(flavor("a", {"x": "1"}, nodeTaints=[{**TAINT, "operator": "Exists"}])),
        "at '/queue/flavors/0/nodeTaints/0': additional properties 'operator' not allowed",
    ),
    Bad(
        "priority class without a value",
        {"queue": {"priorityClasses": [{"name": "a"}]}},
        "at '/queue/priorityClasses/0': missing property 'value'",
    ),
    Bad(
        "priority beyond 32 bits",
        {"queue": {"priorityClasses": [{"name": "a", "value": 2**31}]}},
        "at '/queue/priorityClasses/0/value': maximum: got 2.147483648",
    ),
    Bad(
        "priority that is no whole number",
        {"queue": {"priorityClasses": [{"name": "a", "value": 0.5}]}},
        "at '/queue/priorityClasses/0/value': got number, want integer",
    ),
    Bad(
        "unknown Pod Security level",
        {"namespace": {"podSecurity": {"enforce": "strict"}}},
        "at '/namespace/podSecurity/enforce': value must be one of "
        "'', 'privileged', 'baseline', 'restricted'",
    ),
    Bad(
        "Pod Security version without v",
        {"namespace": {"podSecurity": {"version": "1.35"}}},
        "at '/namespace/podSecurity/version': '1.35' does not match pattern",
    ),
    Bad(
        "annotation that YAML reads as no string",
        {"apply": {"serviceAccount": {"annotations": {"example.org/id": 7}}}},
        "at '/apply/serviceAccount/annotations/example.org~1id': got number, want string",
    ),
    Bad(
        "a text for a switch",
        {"apply": {"enabled": "yes"}},
        "at '/apply/enabled': got string, want boolean",
    ),
    Bad(
        "unknown key of an identity",
        {"viewer": {"rbac": True}},
        "at '/viewer': additional properties 'rbac' not allowed",
    ),
    *bad_topology.REFUSED_BY_SCHEMA,
    *bad_in_cluster.REFUSED_BY_SCHEMA,
]


def refusal(helm: Helm, values: Values, release: str = "campaigns") -> str:
    with pytest.raises(HelmError) as refused:
        helm.template(values, release=release)

    return str(refused.value)


@pytest.mark.parametrize("bad", REFUSED_BY_TEMPLATES, ids=lambda bad: bad.name)
def test_templates_refuse(bad: Bad, helm: Helm) -> None:
    said = refusal(helm, bad.values, bad.release)
    assert any(line.endswith(f": {bad.message}") for line in said.splitlines()), said


@pytest.mark.parametrize("bad", REFUSED_BY_SCHEMA, ids=lambda bad: bad.name)
def test_schema_refuses(bad: Bad, helm: Helm) -> None:
    assert bad.message in refusal(helm, bad.values)


def test_every_sentence_of_the_templates_has_a_case() -> None:
    files = [path for path in (CHART / "templates").rglob("*") if path.is_file()]
    templates = "\n".join(path.read_text() for path in files)
    sentences = re.findall(r"\b(?:fail|required) (?:\(printf )?(\"(?:[^\"\\]|\\.)*\")", templates)
    assert len(sentences) == len(re.findall(r"\b(?:fail|required)\b(?! it)", templates))
    messages = [bad.message for bad in REFUSED_BY_TEMPLATES]
    for sentence in sentences:
        pattern = re.escape(json.loads(sentence))
        for verb, stands_for in (("%q", '"[^"]+"'), ("%s", "[^ ]+"), ("%d", "[0-9]+")):
            pattern = pattern.replace(verb, stands_for)
        assert any(re.fullmatch(pattern, message) for message in messages), sentence


def test_no_object_takes_an_unknown_key() -> None:
    reached = dict(objects_of(SCHEMA))
    assert {"", "/queue/flavors/*", "/queue/flavors/*/nodeTaints/*"} <= reached.keys()
    open_objects = {
        path for path, node in reached.items() if node.get("additionalProperties", True)
    }
    # Helm hands `global` to every subchart, whatever the parent chart keeps in it.
    assert open_objects == {"/global"}


def test_accepts_the_values_of_the_readme(helm: Helm, tmp_path: Path) -> None:
    example = (CHART / "README.md").read_text().partition("```yaml\n")[2].partition("```")[0]
    objects = helm.template(yaml.safe_load(example))
    assert [o["metadata"]["name"] for o in objects if o["kind"] == "WorkloadPriorityClass"] == [
        "urgent",
        "bulk",
    ]
