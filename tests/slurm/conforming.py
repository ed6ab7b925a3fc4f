"""A team on a Slurm, as `conformance` wants to see it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.team import Done
from slurm.lab import eventually
from slurm.slurm_team import SlurmTeam

from converter.capabilities import CAPABILITIES, Capabilities
from converter.model import Backend

# Words of a call that changes nothing.
_QUESTIONS = {"show", "ping", "--version", "--json", "--test-only"}


@dataclass(frozen=True)
class Moment:
    """What there was at some time: calls of the tools, and the files of the state."""

    at: float
    calls: tuple[str, ...]
    state: dict[Path, str]


@dataclass(frozen=True)
class SlurmSite:
    """Tasks, the log that each of them writes as it starts, and every call of Slurm's tools.

    Its Slurm has to forget what has ended within `eventually`.
    """

    team: SlurmTeam
    logs: tuple[Path, ...]
    slow: str = "sleep 300"
    doctor: tuple[str, ...] = ("--for=apply",)

    @staticmethod
    def of(team: SlurmTeam) -> SlurmSite:
        tools = ("scontrol", "sbatch", "scancel")
        return SlurmSite(team, tuple(team.lab.watch(tool) for tool in tools))

    @property
    def able(self) -> Capabilities:
        return CAPABILITIES[Backend.SLURM]

    @property
    def repo(self) -> Path:
        return self.team.repo

    def write_pipeline(self, name: str, script: str) -> None:
        self.team.write_pipeline(script, name)

    def write_campaign(self, name: str, number: int, **keys: Any) -> None:
        self.team.write_campaign(name, number, **keys)

    def delete_campaign(self, name: str) -> None:
        (self.repo / "campaigns" / f"{name}.yaml").unlink()

    def run(self, *arguments: str) -> Done:
        return self.team.run(*arguments)

    def apply(self, *options: str, code: int = 0) -> Done:
        return self.team.apply(*options, code=code)

    def phases(self) -> dict[str, str]:
        return self.team.phases()

    def mark(self) -> Moment:
        state = (self.team.shared / "state").rglob("*.json")
        return Moment(time.time(), self._calls(), {path: path.read_text() for path in state})

    def units(self, name: str) -> int:
        return self.team.running(name)

    def started(self, name: str, since: Moment) -> int:
        logs = (self.team.shared / "campaigns").glob(f"*/{name}/logs/*.log")
        return sum(log.stat().st_mtime >= since.at for log in logs)

    def writes(self, since: Moment) -> list[Any]:
        now = self.mark()
        calls = [call for call in now.calls if call not in since.calls]
        changed = [path for path, text in now.state.items() if since.state.get(path) != text]
        return [*calls, *changed]

    def has(self, name: str) -> bool:
        return name in self.team.survey().states or self.units(name) > 0

    def forget(self, name: str) -> None:
        eventually(lambda: name not in self.team.survey().jobs, f"Slurm has forgotten {name}", 90)

    def _calls(self) -> tuple[str, ...]:
        lines = [
            f"{log.stem} {number} {line}"
            for log in self.logs
            for number, line in enumerate(log.read_text().splitlines())
        ]
        return tuple(line for line in lines if _QUESTIONS.isdisjoint(line.split()))
