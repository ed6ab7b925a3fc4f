"""Taking parts of a cluster away for a while: for `test_frail.py`, on a cluster of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from localcluster import Cluster

WEBHOOKS = (
    "mutatingwebhookconfiguration/kueue-mutating-webhook-configuration",
    "validatingwebhookconfiguration/kueue-validating-webhook-configuration",
)
# Nobody listens on the port `discard`.
NOBODY = "https://127.0.0.1:9/"


@contextmanager
def webhooks_away(cluster: Cluster, *names: str) -> Iterator[None]:
    """Nobody answers for these webhooks of Kueue, or for any, while its controllers run."""
    before = {each: webhooks(cluster, each) for each in WEBHOOKS}
    for each, urls in before.items():
        gone = {name: NOBODY if not names or name in names else url for name, url in urls.items()}
        set_webhooks(cluster, each, gone)
    try:
        yield
    finally:
        for each, urls in before.items():
            set_webhooks(cluster, each, urls)


def webhooks(cluster: Cluster, configuration: str) -> dict[str, str]:
    """The URL of each, by its name."""
    found = json.loads(cluster.kubectl.run("get", configuration, "--output=json"))
    return {each["name"]: each["clientConfig"]["url"] for each in found["webhooks"]}


def set_webhooks(cluster: Cluster, configuration: str, urls: Mapping[str, str]) -> None:
    patch = [
        {"op": "replace", "path": f"/webhooks/{index}/clientConfig/url", "value": url}
        for index, url in enumerate(urls.values())
    ]
    cluster.kubectl.run("patch", configuration, "--type=json", f"--patch={json.dumps(patch)}")


@contextmanager
def kueue_configured(cluster: Cluster, configuration: Mapping[str, Any]) -> Iterator[None]:
    """Kueue, started anew with another configuration."""
    spec = cluster.instance.spec
    cluster.up(replace(spec, kueue_config=configuration))
    try:
        yield
    finally:
        cluster.up(spec)


def wake_controllers(cluster: Cluster) -> None:
    """Start them anew: they wait ever longer before they look for a lost API server again."""
    for controller in ("kube-controller-manager", "kube-scheduler", "kueue"):
        cluster.stop_component(controller)
        cluster.start_component(controller)
