"""Whole commands as processes, on a small repository and an API server on the loopback."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import yaml

NAMESPACE = "team"
REPOSITORY = "git.example.com/team/campaigns"
SETTINGS = f"""\
namespace: {NAMESPACE}
queue: batch
command: [python, -m, ocr]
source_template: https://archive.example.com/{{ref}}
repository: {REPOSITORY}
"""
UNNAMED = SETTINGS.replace("repository:", "# repository:")
PIPELINE = f"image: registry.example.com/ocr@sha256:{'0' * 64}\n"
CAMPAIGN = "pipeline: ocr\nvolumes: [A1, A2]\n"
FILES = {
    "converter.yaml": SETTINGS,
    "pipelines/ocr.yaml": PIPELINE,
    "campaigns/letters.yaml": CAMPAIGN,
}


def write_repository(directory: Path, files: Mapping[str, str] = FILES) -> Path:
    for path, text in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text, encoding="utf-8")
    return directory


def write_kubeconfig(path: Path, url: str) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": "secret"}}],
    }
    path.write_text(yaml.safe_dump(document))
    return path


def command_line(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "converter", *map(str, arguments)]


def environment(**variables: str) -> dict[str, str]:
    """That of the tests, without what it says of a cluster, a proxy or who runs a CI job."""
    unwanted = ("KUBECONFIG", "KUBERNETES_", "GITHUB_", "GITLAB_", "PYTHONIO", "PYTHONUNBUF")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(unwanted) and not name.lower().endswith("_proxy")
    }
    return {**kept, **variables}


def run(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command_line(*arguments),
        env=environment(**variables),
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done
