"""helm as the tests use it: no cluster, none of the caller's settings, YAML in and objects out."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

CHART = Path(__file__).parents[2] / "charts" / "campaign-queue"

Values = Mapping[str, Any]
Object = dict[str, Any]


class HelmError(Exception):
    """What helm said on standard error."""


@dataclass(frozen=True)
class Helm:
    """A helm command with a home directory of its own, in which it also gets its values files."""

    command: Path
    home: Path

    def run(self, *arguments: str | Path) -> str:
        """What helm prints; raises HelmError where it fails."""
        done = subprocess.run(
            [self.command, *arguments],
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise HelmError(done.stderr)
        return done.stdout

    def values_file(self, values: Values) -> Path:
        """A new values file."""
        path = self.home / f"values-{len(list(self.home.glob('values-*')))}.yaml"
        path.write_text(json.dumps(values))
        return path

    def template(
        self,
        values: Values | None = None,
        *,
        release: str = "campaigns",
        namespace: str = "campaigns",
        chart: Path = CHART,
    ) -> list[Object]:
        """The objects of a release, in the order in which helm prints them."""
        file = self.values_file(values or {})
        text = self.run("template", release, chart, "--namespace", namespace, "--values", file)
        return [document for document in yaml.safe_load_all(text) if document]

    def notes(self, values: Values | None = None) -> str:
        """What helm prints after an installation."""
        file = self.values_file(values or {})
        text = self.run(
            "install", "campaigns", CHART, "--namespace=team", "--dry-run=client", "--values", file
        )
        return text.partition("\nNOTES:\n")[2]


def of_kind(objects: Iterable[Object], kind: str) -> dict[str, Object]:
    """The objects of one kind, by name."""
    return {o["metadata"]["name"]: o for o in objects if o["kind"] == kind}


def permissions(rules: Iterable[Mapping[str, Any]]) -> set[tuple[str, str, str, str]]:
    """RBAC rules as (group, resource, name or "*", verb)."""
    return {
        (group, resource, name, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames") or ["*"]
        for verb in rule["verbs"]
    }
