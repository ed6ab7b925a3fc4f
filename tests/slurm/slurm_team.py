"""A team with a repository for a real Slurm, and the command as it is installed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from cluster.team import Done
from slurm.lab import Arrays, Lab

COMMAND = Path(sys.executable).with_name("campaigns")
SAMPLE = Path(__file__).parents[2] / "campaigns" / "slurm"


@dataclass
class SlurmTeam(Arrays):
    """`host` is by ssh, empty for this machine; `environment` is that of its commands."""

    lab: Lab
    home: Path
    host: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def repo(self) -> Path:
        return self.home / "repo"

    @property
    def shared(self) -> Path:
        return self.home / "shared"

    @property
    def at_work(self) -> Path:
        """There once a task of the pipeline `slow` is at its command.

        One that has only started has still to look for a pause.
        """
        return self.home / "at-work"

    @property
    def name(self) -> str:
        return self.home.name

    def directory(self, array: str) -> Path:
        """Where the files of an array are."""
        return next((self.shared / "campaigns").glob(f"*/{array}"))

    def state_file(self, array: str) -> Path:
        """What an apply has kept of it."""
        return next((self.shared / "state").glob(f"*/{array}.json"))

    def write(self, path: str, document: Mapping[str, Any]) -> None:
        file = self.repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(yaml.safe_dump(dict(document)))

    def write_settings(self, **settings: Any) -> None:
        self.shared.mkdir(exist_ok=True)
        slurm = {"directory": str(self.shared), "container": []}
        if self.host:
            slurm["host"] = self.host
        self.write(
            "converter.yaml",
            {
                "backend": "slurm",
                "repository": self.name,
                "slurm": slurm,
                "allow_image_tags": True,
                "sizes": {"page": {"cpu": 1, "memory": "64Mi", "workdir": "16Mi", "gpu": 0}},
                "default_size": "page",
                **settings,
            },
        )

    def write_pipeline(self, script: str = "true", name: str = "work") -> None:
        self.write(f"pipelines/{name}.yaml", {"image": "none:1", "command": ["sh", "-c", script]})

    def write_campaign(self, name: str, number: int = 1, **keys: Any) -> None:
        volumes = [f"{name}-{index}" for index in range(number)]
        self.write(f"campaigns/{name}.yaml", {"pipeline": "work", "volumes": volumes, **keys})

    def copy_sample(self) -> None:
        shutil.copytree(SAMPLE, self.repo)
        settings = self.repo / "converter.yaml"
        text = settings.read_text()
        for old, new in (
            ("directory: /shared/campaigns", f"directory: {self.shared}"),
            ("repository: slurm", f"repository: {self.name}"),
        ):
            assert old in text
            text = text.replace(old, new)
        settings.write_text(text)

    def start(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            (str(COMMAND), *arguments),
            cwd=self.repo,
            env={**os.environ, **self.environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell ignores SIGINT for what it puts into the background, the tests for example.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def run(self, *arguments: str) -> Done:
        process = self.start(*arguments)
        out, err = process.communicate(timeout=120)
        assert "Traceback" not in err, err
        return Done(process.returncode, out, err)

    def apply(self, *options: str, code: int = 0) -> Done:
        done = self.run("apply", ".", *options)
        assert done.code == code, done.text
        return done

    def kill(self, process: subprocess.Popen[str]) -> None:
        process.send_signal(signal.SIGKILL)
        process.communicate()

    def status(self) -> dict[str, dict[str, Any]]:
        done = self.run("status", ".", "--format=json")
        assert done.code == 0, done.text
        return {each["name"]: each for each in json.loads(done.stdout)["campaigns"]}

    def phases(self) -> dict[str, str]:
        return {name: each["phase"] for name, each in self.status().items()}
