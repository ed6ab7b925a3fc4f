"""A team on a Kubernetes cluster, as `conformance` wants to see it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from cluster.team import SLOW, Done, Team

from converter.capabilities import CAPABILITIES, Capabilities
from converter.model import Backend

# The Lease says who applies; the others are questions.
_NO_WRITES = ("leases", "selfsubjectaccessreviews", "selfsubjectreviews", "selfsubjectrulesreviews")


@dataclass(frozen=True)
class ClusterSite:
    """Pods, and the audit log, which misses none and no write."""

    team: Team
    slow: str = SLOW
    doctor: tuple[str, ...] = ("--for=apply", "--only=permissions", "--only=server")

    @property
    def able(self) -> Capabilities:
        settings = yaml.safe_load((self.team.repo / "converter.yaml").read_text())
        return CAPABILITIES[Backend(settings.get("backend", "kueue"))]

    @property
    def repo(self) -> Path:
        return self.team.repo

    def write_pipeline(self, name: str, script: str) -> None:
        self.team.write_pipeline(name, script)

    def write_campaign(self, name: str, number: int, **keys: Any) -> None:
        self.team.write_campaign(name, number, **keys)

    def delete_campaign(self, name: str) -> None:
        self.team.delete_campaign(name)

    def run(self, *arguments: str) -> Done:
        return self.team.run(*arguments)

    def apply(self, *options: str, code: int = 0) -> Done:
        return self.team.apply(*options, code=code)

    def phases(self) -> dict[str, str]:
        return {name: str(each["phase"]) for name, each in self.team.status().items()}

    def mark(self) -> int:
        return self.team.cluster.audit_mark()

    def units(self, name: str) -> int:
        ended = ("Succeeded", "Failed")
        return sum(pod["status"]["phase"] not in ended for pod in self.team.pods(name))

    def started(self, name: str, since: int) -> int:
        return len(self.team.pods_created(since, name))

    def writes(self, since: int) -> list[tuple[str, str]]:
        return [
            (event.verb, event.name)
            for event in self.team.requests(since)
            if event.is_write and not event.dry_run and event.resource not in _NO_WRITES
        ]

    def has(self, name: str) -> bool:
        made = (("job", name), ("configmap", f"campaign-{name}"))
        return any(self.team.get(kind, each) is not None for kind, each in made)

    def forget(self, name: str) -> None:
        self.team.kubectl("delete", "job", name)
