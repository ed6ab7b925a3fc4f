"""The chart's rights beside the table from which `campaigns doctor` judges an identity."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from chart.helm import Helm, of_kind, permissions
from chart.identities import Permission

from converter.doctor.needs import NEEDS, Named, Purpose, excesses, questions

NAMES: Mapping[Named, tuple[str, ...]] = {
    Named.LEASE: ("campaigns-apply",),
    Named.NAMESPACE: ("team",),
    Named.QUEUE: ("campaigns",),
    Named.CLUSTER_QUEUE: ("campaigns-cq",),
    Named.FLAVORS: ("campaigns-flavor",),
    Named.CLASSES: ("urgent", "idle"),
}
VALUES = {
    "queue": {"priorityClasses": [{"name": "urgent", "value": 2}, {"name": "idle", "value": 1}]},
    "viewer": {"enabled": True},
    "holder": {"enabled": True},
}


def needed(purpose: Purpose, *, namespaced: bool) -> set[Permission]:
    return {
        (each.group, each.resource, each.name or "*", each.verb)
        for need in NEEDS
        if purpose in need.purposes and need.namespaced is namespaced
        for each in questions(need, NAMES, "team")
    }


@pytest.mark.parametrize(
    ("purpose", "account"),
    [
        (Purpose.APPLY, "campaigns-apply"),
        (Purpose.VIEW, "campaigns-viewer"),
        (Purpose.HOLD, "campaigns-holder"),
    ],
)
def test_an_identity_of_the_chart_has_what_its_commands_need_and_no_more(
    purpose: Purpose, account: str, helm: Helm
) -> None:
    objects = helm.template(VALUES, namespace="team")
    role = permissions(of_kind(objects, "Role")[account]["rules"])
    of_cluster = of_kind(objects, "ClusterRole").get(f"team:{account}", {"rules": []})
    cluster_role = permissions(of_cluster["rules"])
    assert role == needed(purpose, namespaced=True)
    assert cluster_role == needed(purpose, namespaced=False)
    granted = {(group, resource, verb) for group, resource, _, verb in role | cluster_role}
    assert not granted & {(each.group, each.resource, each.verb) for each in excesses("team")}
