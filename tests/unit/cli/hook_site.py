"""A scratch repository with this checkout's pre-commit hook in it, as a team has it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from unit.cli.commands import FILES, environment, write_repository

CHECKOUT: Final = Path(__file__).parents[3]
_HOOK: Final = "campaigns-validate"


def git(directory: Path, *arguments: str) -> str:
    """Run git in a directory, as somebody, with no settings of this machine."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=directory,
        env=_environment(),
        check=True,
        capture_output=True,
        encoding="utf-8",
    )
    return done.stdout


def publish(directory: Path) -> str:
    """A git repository with the files of this checkout as they are now; the hash of its commit."""
    listed = git(CHECKOUT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for path in listed.split("\0"):
        if (CHECKOUT / path).is_file():
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(CHECKOUT / path, directory / path)
    git(directory, "init", "--quiet")
    git(directory, "add", "--all")
    git(directory, "commit", "--quiet", "--message=all of it")
    return git(directory, "rev-parse", "HEAD").strip()


@dataclass(frozen=True)
class HookSite:
    """A repository of campaigns; `home` is where pre-commit keeps the environments of hooks."""

    root: Path
    home: Path

    def create(
        self, source: Path, revision: str, files: Mapping[str, str] = FILES, more: str = ""
    ) -> None:
        """Write the files, commit them, and turn the hook on; `more` are hooks beside it."""
        write_repository(self.root, files)
        configuration = (
            f"repos:\n  - repo: file://{source}\n    rev: {revision}\n"
            f"    hooks:\n      - id: {_HOOK}\n{more}"
        )
        (self.root / ".pre-commit-config.yaml").write_text(configuration)
        git(self.root, "init", "--quiet")
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message=begin")

    def install(self) -> None:
        """Let git run the hooks at each commit, and make their environments."""
        self.pre_commit("install", "--install-hooks").check_returncode()

    def pre_commit(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run pre-commit; standard error is in its output."""
        return self._run([sys.executable, "-m", "pre_commit", *arguments])

    def commit(self) -> subprocess.CompletedProcess[str]:
        """Commit all changes, as somebody does who works there."""
        git(self.root, "add", "--all")
        return self._run(["git", "commit", "--message=change"])

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            cwd=self.root,
            env=_environment(PRE_COMMIT_HOME=str(self.home), XDG_CACHE_HOME=str(self.home / "xdg")),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            check=False,
        )


def _environment(**variables: str) -> dict[str, str]:
    """That of a shell of somebody whose git has no settings; package indexes stay as they are."""
    proxies = {name: value for name, value in os.environ.items() if name.lower().endswith("_proxy")}
    who = {f"GIT_{role}_{part}": "t@example.com" for role in _ROLES for part in ("NAME", "EMAIL")}
    kept = {name: value for name, value in environment().items() if not name.startswith("GIT_")}
    return {**kept, **proxies, **who, **_NO_SETTINGS, **variables}


_ROLES: Final = ("AUTHOR", "COMMITTER")
_NO_SETTINGS: Final = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
