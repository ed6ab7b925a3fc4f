"""What people are told while an apply runs: lines, annotations of files, and how far it is."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from converter.cli.clone_path import in_clone
from converter.cli.output import Progress
from converter.cli.workflow_commands import workflow_command
from converter.git import top_of_clone
from converter.manifest import Manifest
from converter.model import Repo
from converter.names import pipeline_configmap, warmup_job
from converter.reconcile.outcome import APPLIED, Event, Fate

QUIET: Final = (Fate.UNCHANGED, Fate.FINISHED)
# What goes to standard error, and its level as GitHub calls it.
FAULTS: Final[Mapping[Fate, str]] = {
    Fate.HELD_BACK: "error",
    Fate.REFUSED: "error",
    Fate.PAUSE_FAILED: "error",
    Fate.RESUME_FAILED: "error",
    Fate.PRUNE_FAILED: "error",
    Fate.NOTE: "notice",
}


@dataclass(frozen=True, slots=True)
class Files:
    """Where the files of a repository are. `top` is that of the clone it is in, if it is known."""

    directory: Path
    repo: Repo
    top: Path | None

    def of(self, event: Event) -> str:
        """The file of the repository that an event is about; empty where none is known."""
        if campaign := self.repo.campaigns.get(event.campaign):
            return campaign.path
        return next(
            (
                pipeline.path
                for pipeline in self.repo.pipelines.values()
                if event.target in _targets(pipeline.id)
            ),
            "",
        )

    def from_here(self, path: str) -> str:
        """A file of the repository as it opens from where we run."""
        return (self.directory / path).as_posix()

    def in_clone(self, path: str) -> str:
        """A file of the repository as CI knows it: from the top of the clone."""
        return in_clone(self.from_here(path), self.top)


def _targets(pipeline: str) -> tuple[str, ...]:
    """What events about a pipeline call it: by its name, or by an object of it."""
    configmap, warmup = pipeline_configmap(pipeline), warmup_job(pipeline)
    return f"pipeline {pipeline}", f"ConfigMap/{configmap}", f"Job/{warmup}"


@dataclass(slots=True)
class Announcer:
    """Tells people what happens in an apply.

    With `text` false standard output is left to a document. With `annotates` a fault is a workflow
    command, which GitHub Actions shows at the file.
    """

    progress: Progress
    text: bool
    verbose: bool
    annotates: bool
    files: Files | None = None
    _tally: "_Tally" = field(default_factory=lambda: _Tally())

    def loaded(self, directory: Path, repo: Repo) -> None:
        """From here on it is known which file a campaign is in."""
        self.files = Files(directory, repo, top_of_clone(directory) if self.annotates else None)

    def expect(self, manifests: Iterable[Manifest]) -> None:
        """These objects are going to be sent."""
        self._tally = _Tally.of(manifests)
        self.progress.meter("comparing with the cluster")

    def event(self, event: Event) -> None:
        """Something has happened."""
        if event.fate in FAULTS:
            subject = f"{event.fate}: {event.target}"
            path = self.files.of(event) if self.files else ""
            self.fault(subject, event.detail, path, FAULTS[event.fate])
        elif self.text and (self.verbose or event.fate not in QUIET):
            self.progress.line(str(event))
        self._tally.count(event)
        self.progress.meter(str(self._tally))

    def fault(self, subject: str, detail: str, path: str = "", level: str = "error") -> None:
        """Something that is not as git wants it, in one line.

        `path` is the file of the repository that it is about, `level` what GitHub calls it.
        """
        if self.annotates:
            known = {"file": self.files.in_clone(path)} if self.files and path else {}
            self.progress.line(workflow_command(level, joined(subject, detail), known), err=True)
        elif self.text:
            place = f" ({self.files.from_here(path)})" if self.files and path else ""
            self.progress.line(joined(f"{subject}{place}", detail), err=True)


@dataclass(slots=True)
class _Tally:
    """How many objects have been sent, of those that are going to be: by campaign, what is left."""

    left: dict[str, set[str]] = field(default_factory=dict)
    total: int = 0
    sent: int = 0

    @classmethod
    def of(cls, manifests: Iterable[Manifest]) -> "_Tally":
        tally = cls()
        for manifest in manifests:
            tally.left.setdefault(manifest.campaign, set()).add(manifest.target)
            tally.total += 1
        return tally

    def count(self, event: Event) -> None:
        left = self.left.get(event.campaign, set())
        if event.fate in (*APPLIED, Fate.UNCHANGED) and event.target in left:
            left.remove(event.target)
            self.sent += 1
        elif event.campaign and event.fate in (Fate.HELD_BACK, Fate.REFUSED, Fate.FINISHED):
            self.total -= len(left)
            left.clear()

    def __str__(self) -> str:
        return f"sent {self.sent}/{self.total} objects" if self.sent < self.total else ""


def joined(subject: str, detail: str) -> str:
    """What is told of a fault, wherever it is told."""
    return f"{subject}: {detail}" if detail else subject
