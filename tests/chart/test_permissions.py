"""What the three identities may do on a real cluster: every verb on every resource."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
from chart.documents import compare_file
from chart.identities import KUEUE, Permission
from chart.release import IDENTITIES, OTHER_TEAM, RELEASE, Cluster, Released
from chart.walk import Question, Rights, Served, allowed, lines, rights, served

from converter.cluster.client import Client

TABLE = Path(__file__).with_name("permissions.txt")


@pytest.fixture(scope="module")
def walked(released: Released) -> Served:
    found = served(released.administrator)
    assert {("batch", "jobs/status"), (KUEUE, "workloads"), ("", "pods/exec")} <= found.resources
    assert {"get", "deletecollection", "escalate"} <= found.verbs
    return found


@dataclass(frozen=True)
class Places:
    """What an identity may do in its team's namespace, and anywhere."""

    own: Rights
    anywhere: Rights


@pytest.fixture(scope="module")
def places(
    released: Released, walked: Served, tmp_path_factory: pytest.TempPathFactory, cluster: Cluster
) -> dict[str, Places]:
    """Those of each identity, and of a ServiceAccount that nobody gave anything."""
    nobody = tmp_path_factory.mktemp("nobody") / "kubeconfig"
    cluster.tenant(RELEASE).write_kubeconfig(nobody, account="default")
    clients = {identity: released.client(identity) for identity in IDENTITIES}
    clients["nobody"] = Client.from_kubeconfig(kubeconfig=nobody)
    found = {}
    for identity, client in clients.items():
        own, other, default = (
            rights(client, each, walked) for each in (RELEASE, OTHER_TEAM, "default")
        )
        # Another team is no nearer than a stranger.
        assert other == default
        assert own.permissions >= default.permissions
        found[identity] = Places(own, default)
    return found


def test_every_verb_on_every_resource_is_as_the_table_says(places: dict[str, Places]) -> None:
    anybody = places.pop("nobody").anywhere
    text = [
        "# All that the API server allows the chart's identities, of every verb on every resource.",
        "# Made by test_permissions.py, with CAMPAIGNS_UPDATE_DOCS=1.",
        "any ServiceAccount, anywhere",
        *lines(anybody.permissions),
    ]
    for identity, found in places.items():
        assert found.own.paths == found.anywhere.paths == anybody.paths
        text += [
            f"{identity}, in the namespace of its team",
            *lines(found.own.permissions - found.anywhere.permissions),
            f"{identity}, anywhere",
            *(lines(found.anywhere.permissions - anybody.permissions)),
        ]
    compare_file(TABLE, "\n".join(text).replace(RELEASE, "RELEASE") + "\n")


def test_requests_are_judged_as_the_rules_say(
    released: Released, walked: Served, places: dict[str, Places]
) -> None:
    """Other authorizers than RBAC would not show in its rules."""
    known = {"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}
    for identity in IDENTITIES:
        own = places[identity].own.permissions
        groups = {group for group, *_ in own}
        asked: list[Permission] = [
            *own,
            *(
                (group, resource, "*", verb)
                for group, resource in walked.resources
                for verb in known
                if group in groups - {""} or resource.partition("/")[0] in {"pods", "secrets"}
            ),
        ]
        questions = [Question(RELEASE, f"{RELEASE}-{identity}", each) for each in asked]
        with ThreadPoolExecutor(8) as pool:
            answers = pool.map(lambda each: allowed(released.administrator, each), questions)
        judged = {each for each, answer in zip(asked, answers, strict=True) if answer}
        assert judged == own & set(asked)
