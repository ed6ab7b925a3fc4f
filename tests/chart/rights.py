"""An identity that lacks one of its rights for a while, and commands that meet that."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chart.identities import Permission
from chart.walk import Question, allowed
from click.testing import CliRunner

from converter.cli.main import campaigns
from converter.cluster.client import Client, Object
from converter.cluster.resources import Resource
from converter.errors import CampaignsError, NotFound

ROLES = Resource("/apis/rbac.authorization.k8s.io/v1", "roles", "Role")
CLUSTER_ROLES = Resource(ROLES.api, "clusterroles", "ClusterRole", namespaced=False)
SECONDS = 20.0


@dataclass(frozen=True)
class Account:
    """One of the chart's identities, seen by the administrator."""

    administrator: Client
    namespace: str
    name: str

    def may(self, permission: Permission) -> bool:
        return allowed(self.administrator, Question(self.namespace, self.name, permission))

    @contextmanager
    def without(self, permission: Permission) -> Iterator[None]:
        """A block in which the identity lacks one right and has all others."""
        kept = [
            (resource, name, role)
            for resource, name in (
                (ROLES, self.name),
                (CLUSTER_ROLES, f"{self.namespace}:{self.name}"),
            )
            if (role := self._role(resource, name))
        ]
        assert self.may(permission), permission
        try:
            for resource, name, role in kept:
                self._write(resource, name, list(_less(role["rules"], permission)))
            self._wait(permission, granted=False)
            yield
        finally:
            for resource, name, role in kept:
                self._write(resource, name, role["rules"])
            self._wait(permission, granted=True)

    def _role(self, resource: Resource, name: str) -> Object | None:
        try:
            return self.administrator.get(resource, self.namespace, name)
        except NotFound:
            # Who holds has none in the cluster.
            return None

    def _write(self, resource: Resource, name: str, rules: list[Object]) -> None:
        patch = {"rules": rules}
        self.administrator.merge_patch(resource, self.namespace, name, patch, "tests")

    def _wait(self, permission: Permission, *, granted: bool) -> None:
        """The API server hears of a role a moment later than it stores it."""
        deadline = time.monotonic() + SECONDS
        while self.may(permission) is not granted:
            assert time.monotonic() < deadline, permission
            time.sleep(0.01)


def _less(rules: list[Object], taken: Permission) -> Iterator[Object]:
    """The rules, each about one group and one resource, without one right."""
    group, resource, name, verb = taken
    for rule in rules:
        for each_group in rule["apiGroups"]:
            for each in rule["resources"]:
                verbs = rule["verbs"]
                names = rule.get("resourceNames") or ["*"]
                if (each_group, each) == (group, resource) and name in names:
                    verbs = [kept for kept in verbs if kept != verb]
                if verbs:
                    yield {**rule, "apiGroups": [each_group], "resources": [each], "verbs": verbs}


@dataclass(frozen=True)
class Done:
    """A command that has ended: its exit code, and all that it wrote."""

    code: int
    text: str


def run(kubeconfig: Path, *arguments: str) -> Done:
    """A command, run here: as a process of its own each would take most of a second."""
    outside = {"GITHUB_ACTIONS": None, "GITHUB_STEP_SUMMARY": None}
    done = CliRunner().invoke(
        campaigns, [*arguments, f"--kubeconfig={kubeconfig}"], env=outside, standalone_mode=False
    )
    if isinstance(done.exception, CampaignsError):
        return Done(1, f"{done.output}error: {done.exception}\n")
    assert done.exception is None, done.exc_info
    return Done(done.return_value or 0, done.output)


@dataclass(frozen=True)
class Repository:
    """A campaigns repository for one namespace and queue, which owns what it applies there."""

    directory: Path
    kubeconfig: Path

    def write(self, path: str, document: Mapping[str, Any]) -> None:
        """A file; JSON is YAML too."""
        file = self.directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(document))

    def run(self, command: str, *options: str) -> Done:
        """A command whose first argument is the repository."""
        return run(self.kubeconfig, command, str(self.directory), *options)

    def apply(self, *options: str) -> Done:
        return self.run("apply", *options)

    def applied(self, *options: str) -> Done:
        """`apply`, which has to come through."""
        done = self.apply(*options)
        assert done.code == 0, done.text
        return done
