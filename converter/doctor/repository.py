"""The repository: its files, its name and its clone."""

from dataclasses import dataclass
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.model import Repo, Settings

_FILES: Final = Check(Group.REPOSITORY, "files")
_NAME: Final = Check(Group.REPOSITORY, "repository-name")
_HISTORY: Final = Check(Group.REPOSITORY, "history")


@dataclass(frozen=True, slots=True)
class Clone:
    """What is known of a repository without a cluster.

    `settings` is None where converter.yaml cannot be used. `errors` are the problems that keep an
    apply from starting, as one line each. `name` is empty where nothing gives one, `name_error` why
    git could not be asked. `commit` is empty outside git. `image` is one of the pipelines', if any.
    `repo` is None where a file has an error.
    """

    directory: str
    settings: Settings | None
    errors: tuple[str, ...] = ()
    name: str = ""
    name_error: str = ""
    commit: str = ""
    is_in_git: bool = True
    has_whole_history: bool = True
    image: str = ""
    repo: Repo | None = None


def repository_findings(clone: Clone) -> tuple[Finding, ...]:
    """Everything about the repository."""
    return files_finding(clone), name_finding(clone), history_finding(clone)


def files_finding(clone: Clone) -> Finding:
    """Whether its files are valid."""
    if not clone.errors:
        return _FILES.ok("its files are valid")
    count, first = len(clone.errors), clone.errors[0]
    more = f" and {count - 1} more" if count > 1 else ""
    return _FILES.fault(
        f"its files are not valid: {first}{more}",
        f"correct what `campaigns validate {clone.directory}` lists",
    )


def name_finding(clone: Clone) -> Finding:
    """A repository is known on the cluster by its name, which must be the same in every clone."""
    remedy = "set `repository` in converter.yaml"
    if clone.name_error:
        return _NAME.unknown(clone.name_error, remedy)
    if not clone.name:
        return _NAME.warning(
            "neither converter.yaml nor a git remote `origin` names the repository: it is called "
            "after its directory, and apply --prune refuses",
            remedy,
        )
    return _NAME.ok(f"the repository is {clone.name}")


def history_finding(clone: Clone) -> Finding:
    """Whether apply can tell that a commit is older than the one applied last."""
    if not clone.is_in_git:
        return _HISTORY.warning(
            "it is not in git: apply cannot tell whether it is older than what was applied last",
            "commit it, and apply from a clone",
        )
    if not clone.has_whole_history:
        return _HISTORY.warning(
            "the clone is shallow: apply cannot tell whether its commit is older than the one "
            "applied last",
            "fetch the whole history (fetch-depth: 0 in GitHub, GIT_DEPTH: 0 in GitLab, "
            "fetchDepth: 0 in Azure)",
        )
    return _HISTORY.ok("the clone has the whole history")
