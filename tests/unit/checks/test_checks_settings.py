"""Rules about converter.yaml: sizes, flavors, and the rest."""

from dataclasses import replace
from typing import Any

import pytest
from unit.checks.files import at, at_key, flavor, found, sizes, some_pipeline

from converter.model import Backend, Size, Warmup

PATH = "converter.yaml"
A100 = flavor("a100", {"gpu": "a100"})
H100 = flavor("h100", {"gpu": "h100"})
ON_A100 = sizes(Size("large", "8", "32Gi", flavor="a100"))
TAINT = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}
TAINTED = flavor("a100", {"gpu": "a100"}, node_taints=(TAINT,))


def test_default_size_exists() -> None:
    large = sizes(Size("large", "8", "32Gi"))
    assert found("S002", sizes=large, default_size="lrage") == [
        (PATH, at("default_size"), 'there is no size "lrage"', "did you mean large?")
    ]
    remedy = "add it to sizes, or take default_size out"
    assert found("S002", default_size="large") == [
        (PATH, at("default_size"), 'there is no size "large"', remedy)
    ]
    assert found("S002", sizes=large, default_size="large") == found("S002", sizes=large) == []


@pytest.mark.parametrize("member", ["cpu", "memory", "workdir"])
@pytest.mark.parametrize("text", ["0", "0.0", "0Gi", "32GB", "-1", ""])
def test_amounts_of_a_size_are_above_zero(member: str, text: str) -> None:
    amounts: dict[str, Any] = {"cpu": "8", "memory": "32Gi", member: text}
    size = Size("large", **amounts)
    message = f'{member} "{text}" is not a quantity above 0'
    remedy = "write a quantity above 0, for example 2, 500m or 8Gi"
    assert found("S003", sizes=sizes(size)) == [
        (PATH, at("sizes", "large", member), message, remedy)
    ]


@pytest.mark.parametrize(
    ("memory", "workdir", "right"),
    [
        ("4Gi", "4Gi", False),
        ("4G", "4Gi", False),
        ("1Gi", "2Gi", False),
        ("4097Mi", "4Gi", True),
        ("0", "4Gi", True),
    ],
)
def test_memory_is_more_than_the_workdir(memory: str, workdir: str, right: bool) -> None:
    problems = found("S004", sizes=sizes(Size("large", "8", memory, workdir=workdir)))
    message = f"memory {memory} is not more than the workdir of {workdir}, which is part of it"
    remedy = "write more memory, or a smaller workdir"
    position = at("sizes", "large", "memory")
    assert problems == ([] if right else [(PATH, position, message, remedy)])


def test_a_sizes_flavor_exists() -> None:
    size = sizes(Size("large", "8", "32Gi", flavor="a10"))
    assert found("S005", sizes=size, flavors=(A100,)) == [
        (PATH, at("sizes", "large", "flavor"), 'there is no flavor "a10"', "did you mean a100?")
    ]
    assert found("S005", sizes=ON_A100, flavors=(A100,)) == []


def test_flavors_have_names_of_their_own() -> None:
    twice = (A100, H100, flavor("a100", {"gpu": "b"}))
    message = "flavor a100 is number 1 of the list already"
    assert found("S007", flavors=twice) == [
        (PATH, at("flavors", 2, "name"), message, "give each flavor a name of its own")
    ]
    assert found("S007", flavors=(A100, H100)) == []


@pytest.mark.parametrize(
    ("labels", "right"),
    [
        ({"memory": "large"}, False),
        ({"gpu": "a100"}, False),
        ({"gpu": "a100", "memory": "large"}, False),
        ({"gpu": "h100"}, True),
        ({"gpu": "h100", "memory": "large"}, True),
    ],
)
def test_flavors_can_be_told_apart(labels: dict[str, str], right: bool) -> None:
    problems = found("S008", flavors=(A100, flavor("other", labels)))
    message = (
        "flavors a100 and other share no label key with different values, so a node could be "
        "counted for both, and a pod meant for one be admitted on the other"
    )
    remedy = "give both a label such as node-type, each with its own value"
    assert problems == ([] if right else [(PATH, at("flavors", 1, "nodeLabels"), message, remedy)])


def test_the_node_selector_does_not_contradict_a_flavor() -> None:
    selector = {"zone": "north", "gpu": "h100"}
    expected = (
        "node_selector has gpu: h100, and flavor a100 has gpu: a100",
        "take gpu out of node_selector",
    )
    both: dict[str, Any] = {"flavors": (A100, H100), "node_selector": selector}
    two = sizes(*ON_A100.values(), Size("larger", "9", "64Gi", flavor="a100"))
    assert found("S009", sizes=two, **both) == [(PATH, at("node_selector", "gpu"), *expected)]
    assert found("S009", **both) == []
    assert found("S009", sizes=ON_A100, flavors=(A100,), node_selector={"gpu": "a100"}) == []


@pytest.mark.parametrize(
    ("selector", "right"),
    [({"gpu": "v100"}, False), ({"gpu": "h100"}, True), ({"zone": "north"}, True), ({}, True)],
)
def test_the_node_selector_fits_a_flavor(selector: dict[str, str], right: bool) -> None:
    problems = found("S010", flavors=(A100, H100), node_selector=selector)
    message = (
        "node_selector fits the nodeLabels of no flavor, so Kueue would never admit a campaign"
    )
    remedy = "write labels that one of the flavors has"
    assert problems == ([] if right else [(PATH, at("node_selector"), message, remedy)])


POOLS = (flavor("a", {"pool": "a"}), flavor("b", {"pool": "b", "gpu": "a100"}))
LARGE = Size("l", "8", "32Gi", flavor="a")
ANYWHERE = Size("s", "1", "4Gi")
OF_A = (
    "node_selector and the nodeLabels of flavor a together fit the nodeLabels of no flavor, so "
    "Kueue would never admit a campaign",
    "take labels out of node_selector that other flavors have and a has not",
)
OF_NONE = (
    "node_selector fits the nodeLabels of no flavor, so Kueue would never admit a campaign",
    "write labels that one of the flavors has",
)


@pytest.mark.parametrize(
    ("listed", "default", "value", "expected"),
    [
        ((LARGE,), "l", "v100", [OF_A]),
        ((LARGE,), "l", "a100", [OF_A]),
        ((LARGE, replace(LARGE, name="m")), "l", "v100", [OF_A]),
        ((LARGE, ANYWHERE), "l", "v100", [OF_A, OF_NONE]),
        ((LARGE,), None, "v100", [OF_A, OF_NONE]),
        ((LARGE, ANYWHERE), "l", "a100", [OF_A]),
        ((replace(LARGE, flavor="b"),), "l", "a100", []),
        ((replace(LARGE, flavor="unknown"),), "l", "v100", []),
    ],
)
def test_every_selector_that_a_pod_has_fits_a_flavor(
    listed: tuple[Size, ...], default: str | None, value: str, expected: list[tuple[str, str]]
) -> None:
    problems = found(
        "S010",
        node_selector={"gpu": value},
        flavors=POOLS,
        sizes=sizes(*listed),
        default_size=default,
    )
    assert problems == [(PATH, at("node_selector"), *each) for each in expected]


def test_flavors_are_kueues_alone() -> None:
    wrong: dict[str, Any] = {
        "flavors": (A100, A100, flavor("b", {"b": "c"})),
        "sizes": ON_A100,
        "node_selector": {"gpu": "h100"},
    }
    for code in ("S007", "S008", "S009", "S010"):
        assert found(code, **wrong) != []
        assert found(code, backend=Backend.NONE, **wrong) == []


TOLERATED = [
    {"key": "gpu", "operator": "Exists"},
    {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "gpu", "value": "a100"},
    {"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"},
]
NOT_TOLERATED = [
    {"key": "other", "operator": "Exists"},
    {"key": "gpu", "operator": "Exists", "effect": "NoExecute"},
    {"key": "gpu", "value": "h100"},
    {"key": "gpu"},
]


@pytest.mark.parametrize(
    ("toleration", "right"),
    [*((each, True) for each in TOLERATED), *((each, False) for each in NOT_TOLERATED)],
)
def test_a_warmup_tolerates_the_taints_of_its_nodes(
    toleration: dict[str, str], right: bool
) -> None:
    problems = found(
        "S011",
        some_pipeline(warmup=Warmup(("fetch",)), size="large"),
        some_pipeline("b", warmup=Warmup(("fetch",)), size="larger"),
        sizes=sizes(*ON_A100.values(), Size("larger", "9", "64Gi", flavor="a100")),
        flavors=(TAINTED,),
        tolerations=(toleration,),
    )
    message = "the pods of a warm-up do not tolerate the taint gpu=a100:NoSchedule of flavor a100"
    remedy = "add {key: gpu, operator: Exists} to tolerations"
    position = at("flavors", 0, "nodeTaints", 0)
    assert problems == ([] if right else [(PATH, position, message, remedy)])


def test_kueue_gives_the_tolerations_of_a_flavor_to_campaigns() -> None:
    tainted: dict[str, Any] = {"sizes": ON_A100, "flavors": (TAINTED,)}
    assert found("S011", some_pipeline(size="large"), **tainted) == []
    assert len(found("S011", some_pipeline(size="large"), backend=Backend.NONE, **tainted)) == 1
    preferred = flavor(
        "a100", {"gpu": "a100"}, node_taints=({**TAINT, "effect": "PreferNoSchedule"},)
    )
    warmed = some_pipeline(size="large", warmup=Warmup(("fetch",)))
    assert found("S011", warmed, sizes=ON_A100, flavors=(preferred,)) == []


def test_a_queue_system_needs_a_queue() -> None:
    remedy = "write the name of the LocalQueue in the namespace"
    assert found("S013", queue="") == [(PATH, at("queue"), "backend kueue needs a queue", remedy)]
    assert len(found("S013", queue="", backend=Backend.KOORD_QUEUE)) == 1
    assert found("S013", queue="", backend=Backend.NONE) == []


def test_quota_is_written_once() -> None:
    assert found("S014", quota={"cpu": "1"}, flavors=(A100,)) == [
        (
            PATH,
            at_key("quota"),
            "quota is for a ClusterQueue with one flavor, and there are flavors",
            "write a quota in each flavor, and take this one out",
        )
    ]
    assert found("S014", quota={"cpu": "1"}) == found("S014", flavors=(A100,)) == []


@pytest.mark.parametrize(
    ("path", "taken"),
    [
        ("/work", "/work, where the working directory is mounted"),
        ("/work/", "/work, where the working directory is mounted"),
        ("/data/models", "/data, where the model cache is mounted"),
        ("/config", "/config, where the pipeline's steps is mounted"),
        ("/campaign", "/campaign, where the list of volumes is mounted"),
        ("/secrets", "/secrets/s3, where s3_secret is mounted"),
        ("/secrets/s3", "/secrets/s3, where s3_secret is mounted"),
    ],
)
def test_a_secret_is_mounted_where_nothing_else_is(path: str, taken: str) -> None:
    message = f"{path} is the same as, above or below {taken}"
    remedy = "write a path of its own, for example /secrets/token"
    mounted = {"data_pvc": "models", "s3_secret": "s3"}
    assert found("S015", secrets={"token": path}, **mounted) == [
        (PATH, at("secrets", "token"), message, remedy)
    ]


@pytest.mark.parametrize("path", ["/data", "/data/models", "/secrets/s3", "/secrets", "/etc/token"])
def test_what_is_not_mounted_is_free(path: str) -> None:
    assert found("S015", secrets={"token": path}) == []


@pytest.mark.parametrize(
    ("path", "system"), [("/", "/proc"), ("/etc", "/etc"), ("/usr/", "/usr"), ("/lib64", "/lib64")]
)
def test_no_secret_hides_the_system(path: str, system: str) -> None:
    message = f"{path} is the same as or above {system}, which every container needs"
    [(_, position, found_message, _)] = found("S015", secrets={"token": path})
    assert (position, found_message) == (at("secrets", "token"), message)


def test_a_mount_is_said_to_be_taken_once() -> None:
    problems = found("S015", secrets={"a": "/work", "b": "/work/x", "c": "/c", "d": "/c"})
    assert [(position, message) for _, position, message, _ in problems] == sorted(
        (at("secrets", name), f"{path} is the same as, above or below {taken} is mounted")
        for name, path, taken in (
            ("a", "/work", "/work, where the working directory"),
            ("b", "/work/x", "/work, where the working directory"),
            ("d", "/c", "/c, where Secret c"),
        )
    )


def test_secrets_are_mounted_apart() -> None:
    nested = {"a": "/secrets/a", "token": "/secrets/a/b", "c": "/secrets/ab"}
    message = "/secrets/a/b is the same as, above or below /secrets/a, where Secret a is mounted"
    remedy = "write a path of its own, for example /secrets/token"
    assert found("S015", secrets=nested) == [(PATH, at("secrets", "token"), message, remedy)]
