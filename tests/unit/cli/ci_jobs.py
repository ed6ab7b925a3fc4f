"""CI files as a machine without a CI system can run them: the shell steps of a job, in a clone.

Nothing of them is left out or changed. What is put in their place: pip, which would ask an index,
by a note of what it was to install; `campaigns` by the one of this checkout, which also notes the
mode of the kubeconfig; and what the CI system itself writes, its expressions and variables.
"""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from unit.cli.commands import environment

_EXPRESSION = re.compile(r"\$\{\{ *(.+?) *\}\}|\$\((.+?)\)")
_GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class Step:
    """A shell text with its variables; what is `always` run, is run after a failure too."""

    shell: str
    env: Mapping[str, str] = field(default_factory=dict)
    always: bool = False


@dataclass
class Runner:
    """Runs the steps of a job in `clone`. Files of the job are below `home`."""

    home: Path
    clone: Path
    values: dict[str, str] = field(default_factory=dict)
    output: str = ""

    def __post_init__(self) -> None:
        tools = self.home / "tools"
        tools.mkdir(parents=True)
        (self.home / "temp").mkdir()
        python, log = shlex.quote(sys.executable), shlex.quote(str(self.home))
        _tool(tools / "python", f'printf "%s\\n" "$@" >> {log}/pip')
        _tool(
            tools / "campaigns",
            f'if [ -n "${{KUBECONFIG:-}}" ]; then stat -c %a "$KUBECONFIG" >> {log}/modes; fi\n'
            f'exec {python} -m converter "$@"',
        )

    @property
    def installed(self) -> list[str]:
        return (self.home / "pip").read_text().splitlines()

    @property
    def modes(self) -> list[str]:
        """The modes of the kubeconfig, as `campaigns` found it."""
        return (self.home / "modes").read_text().split()

    def run(self, steps: list[Step], **variables: str) -> int:
        """The first exit code that is not 0; the steps after it are left out but for `always`."""
        failed = 0
        for step in steps:
            if not failed or step.always:
                failed = self._step(step, variables) or failed
        return failed

    def _step(self, step: Step, variables: Mapping[str, str]) -> int:
        env = {name: self._filled(value) for name, value in step.env.items()}
        own = {"PATH": f"{self.home}/tools:/usr/bin:/bin", "TMPDIR": f"{self.home}/temp"}
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", self._filled(step.shell)],
            cwd=self.clone,
            env=environment(**variables, **env, **own),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        self.output += done.stdout
        return done.returncode

    def _filled(self, text: str) -> str:
        """The text with what the CI system puts into it; shell text such as ``$(mktemp)`` stays."""

        def value(found: re.Match[str]) -> str:
            if found[1] is None:
                return self.values.get(found[2], found[0])
            return self.values[found[1]]

        return _EXPRESSION.sub(value, text)


def github_steps(document: Any, job: str) -> list[Step]:
    assert document["defaults"]["run"]["shell"] == "bash"
    return [
        Step(each["run"], {**document["env"], **each.get("env", {})}, each.get("if") == "always()")
        for each in document["jobs"][job]["steps"]
        if "run" in each
    ]


def gitlab_steps(document: Any, job: str) -> list[Step]:
    """One: GitLab runs the lines of a job in one shell."""
    lines = [*document["default"]["before_script"], *document[job]["script"]]
    return [Step("\n".join(lines), document["variables"])]


def azure_steps(document: Any, job: str) -> list[Step]:
    [found] = [
        each for each in _mappings(document) if job in (each.get("job"), each.get("deployment"))
    ]
    return [
        Step(each["bash"], {**document["variables"], **each.get("env", {})})
        for each in _mappings(found)
        if "bash" in each
    ]


def _mappings(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value:
        if isinstance(part, dict | list):
            yield from _mappings(part)


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def git(directory: Path, *arguments: str | Path) -> str:
    done = subprocess.run(
        [*_GIT, *map(str, arguments)], cwd=directory, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def cloned(repo: Path, origin: Path, clone: Path) -> Path:
    """A clone of a repository whose files are all committed to main, as a server has it."""
    git(repo, "init", "--quiet", "--initial-branch", "main")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message", "Begin")
    git(repo, "clone", "--quiet", "--bare", repo, origin)
    git(repo, "clone", "--quiet", origin, clone)
    git(clone, "remote", "set-url", "origin", "https://git.example.com/team/campaigns.git")
    return clone


def propose(clone: Path, files: Mapping[str, str]) -> str:
    """Check out what GitHub and Azure build for a pull request: its merge into main.

    Returns the commit that the change began at.
    """
    base = git(clone, "rev-parse", "HEAD")
    git(clone, "checkout", "--quiet", "-b", "change")
    for path, text in files.items():
        (clone / path).write_text(text, encoding="utf-8")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "Change")
    git(clone, "checkout", "--quiet", "--detach", "origin/main")
    git(clone, "merge", "--quiet", "--no-ff", "--message", "Merge", "change")
    return base


def _tool(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
