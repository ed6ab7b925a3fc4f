"""What is built, and under which name it is kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from localcluster.build import (
    PRODUCTS,
    Product,
    cache_key,
    is_package,
    linker_flags,
    pinned_version,
    product_in_cache,
)
from localcluster.errors import ClusterError
from localcluster.paths import MODULES_DIR

GO_MOD = """\
module gitops-campaigns.local/cluster/kueue

go 1.25.0

require (
	sigs.k8s.io/kueue/cmd/other v9.9.9 // indirect
	sigs.k8s.io/kueue v0.17.0 // indirect
)
"""


def test_the_pinned_version() -> None:
    assert pinned_version(PRODUCTS["kueue"], GO_MOD) == "v0.17.0"
    assert pinned_version(PRODUCTS["kueue"], "require sigs.k8s.io/kueue v1.0.0\n") == "v1.0.0"


def test_a_product_that_is_not_pinned() -> None:
    with pytest.raises(ClusterError, match=r"modules/kwok/go\.mod does not require sigs"):
        pinned_version(PRODUCTS["kwok"], GO_MOD)


@pytest.mark.parametrize("name", PRODUCTS)
def test_each_product_is_pinned_to_a_release(name: str) -> None:
    go_mod = (MODULES_DIR / name / "go.mod").read_text()
    assert pinned_version(PRODUCTS[name], go_mod).count(".") == 2
    assert f"module gitops-campaigns.local/cluster/{name}\n" in go_mod


def test_every_module_is_a_product() -> None:
    assert {path.parent.name for path in MODULES_DIR.glob("*/go.mod")} == set(PRODUCTS)


def test_the_kubernetes_modules_are_of_one_release() -> None:
    go_mod = (MODULES_DIR / "kubernetes/go.mod").read_text()
    staging = pinned_version(PRODUCTS["kubernetes"], go_mod).replace("v1.", "v0.")
    replaced = [line for line in go_mod.splitlines() if " => k8s.io/" in line]
    assert len(replaced) == 31
    assert all(line.endswith(f" {staging}") for line in replaced)


def test_kubernetes_is_told_its_version() -> None:
    flags = linker_flags(PRODUCTS["kubernetes"], "v1.35.4").split(" ")
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        assert f"{package}.gitVersion=v1.35.4" in flags
        assert f"{package}.gitMajor=1" in flags
        assert f"{package}.gitMinor=35" in flags


def test_linker_flags() -> None:
    product = Product("p", "m", version_variables=("m.V",), variables={"m.dir": "d"})
    assert linker_flags(product, "v1.2.3") == "-s -w -X m.V=v1.2.3 -X m.dir=d"


def test_the_key_changes_with_each_thing_that_decides_the_binaries() -> None:
    given = ("go.mod", "go.sum", "-s", "x86_64")
    changed = [(*given[:i], "other", *given[i + 1 :]) for i in range(len(given))]
    keys = {cache_key(*parts) for parts in (given, *changed)}
    assert len(keys) == 1 + len(given)
    assert cache_key(*given) in keys


def test_where_a_product_is_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    built = product_in_cache(PRODUCTS["kueue"])
    assert built.path.parent == tmp_path / "gitops-campaigns"
    assert built.path.name.startswith(f"kueue-{built.version}-")
    assert built.binary("kueue") == built.path / "bin/kueue"


@pytest.mark.parametrize(
    ("line", "package"),
    [
        ("k8s.io/api/core/v1\n", True),
        ("gopkg.in/yaml.v3\n", True),
        ("k8s.io/kubernetes/pkg/kubelet/apis/config/v1beta1", True),
        ("# k8s.io/api/core/v1\n", False),
        ("main.go:3:2: undefined: x\n", False),
        ("go: downloading k8s.io/api v0.35.4\n", False),
    ],
)
def test_a_package_among_what_go_prints(line: str, package: bool) -> None:
    assert is_package(line) is package
