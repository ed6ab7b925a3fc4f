"""What an apply could not do, as entries of GitLab's Code Quality report.

A run that stops before its end is an entry too: an empty report would say that nothing is wrong.
"""

from pathlib import Path
from typing import Final

from converter.cli.announcer import FAULTS, Files, joined
from converter.cli.clone_path import in_clone
from converter.cli.code_quality import Finding, Severity
from converter.cli.problem_formats import findings
from converter.errors import CampaignsError, InvalidRepository
from converter.load.files import SETTINGS_FILE
from converter.reconcile.outcome import NOT_AS_IN_GIT, Event, Outcome

STOPPED: Final = "apply-stopped"


def apply_findings(
    outcome: Outcome,
    directory: Path,
    files: Files | None,
    top: Path | None,
    stop: BaseException | None = None,
    error: str = "",
) -> list[Finding]:
    """An entry for each fault of a run over the repository in `directory`, in the clone `top`.

    `files` is None where the repository was not loaded. `stop` is what ended the run before its
    time, and `error` says so in words: problems of files are entries at their lines. What is of no
    campaign's and no pipeline's file is at converter.yaml.
    """
    settings = in_clone((directory / SETTINGS_FILE).as_posix(), top)
    found = [
        _finding(event, _path(event, files, top) or settings)
        for event in outcome.events
        if FAULTS.get(event.fate) == "error"
    ]
    if isinstance(stop, InvalidRepository):
        found += findings(stop.problems, top)
    elif stop is not None:
        # A signal has but a word.
        by_fault = isinstance(stop, CampaignsError)
        said = error if by_fault else f"apply was {error}: apply again to finish"
        found.append(Finding(STOPPED, settings, 1, said, said, Severity.CRITICAL))
    return found


def _finding(event: Event, path: str) -> Finding:
    sentence = joined(f"{event.fate}: {event.target}", event.detail)
    return Finding(
        check=f"apply-{event.fate.value.replace(' ', '-')}",
        path=path,
        line=1,
        sentence=sentence,
        about=sentence,
        severity=Severity.MAJOR if event.fate in NOT_AS_IN_GIT else Severity.CRITICAL,
    )


def _path(event: Event, files: Files | None, top: Path | None) -> str:
    path = files.of(event) if files else ""
    return in_clone(files.from_here(path), top) if files and path else ""
