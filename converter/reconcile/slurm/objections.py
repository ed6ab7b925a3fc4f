"""Why a campaign may not be sent on to Slurm: pure rules over what git wants and what there is."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from converter.holds.words import in_force, lifted_by
from converter.reconcile.held import strongest
from converter.reconcile.slurm.array import Array
from converter.reconcile.slurm.submission import Submission
from converter.slurm.comment import comment_of
from converter.slurm.job import Phase
from converter.slurm.layout import job_directory, state_file
from converter.slurm.state import Step
from converter.slurm.survey import Survey
from converter.wording import first_few

# How long a submission may be on its way: the time of a command, and what a busy controller takes.
ON_ITS_WAY_SECONDS: Final = 120


def objection(
    parts: Sequence[Submission], others: Iterable[str], arrays: Mapping[str, Array], found: Survey
) -> str:
    """Why a campaign may not be sent on; `others` are its arrays that are there."""
    campaign, names = parts[0].campaign, {part.name for part in parts}
    if strangers := [name for name in others if name not in names]:
        return (
            f"its list of volumes differs from what was applied as {', '.join(strangers)}: put the "
            "old file back and write a new campaign file for the new work"
        )
    for part in parts:
        array = arrays[part.name]
        checks = (
            _astray,
            _unreadable,
            _again,
            _twice,
            _on_its_way,
            _lost,
            _homeless,
            _forgotten,
            _applied_elsewhere,
            _ending,
            _other_work,
            _changed,
        )
        for rule in checks:
            if reason := rule(part, array, found):
                return reason
    new = [part.name for part in parts if not arrays[part.name].numbers]
    mark = strongest(arrays[name].hold for name in others)
    if mark is not None and new and not all(arrays[name].has_ended for name in new):
        return (
            f"{first_few(new)} would be submitted while {in_force(mark)} on another part: apply "
            f"again when it is released ({lifted_by(mark, campaign)})"
        )
    return ""


def _astray(part: Submission, array: Array, found: Survey) -> str:
    return "" if array.has_gone else array.astray


def _unreadable(part: Submission, array: Array, found: Survey) -> str:
    if array.state is not None or not found.unreadable:
        return ""
    folder = state_file(found.directory, part.repository, "").rpartition("/")[0]
    return (
        f"{first_few(found.unreadable)} in {folder} on the Slurm host cannot be read, so that it "
        "may have run already: repair what cannot be read, or delete it where its campaign has "
        "not run"
    )


def _again(part: Submission, array: Array, found: Survey) -> str:
    if not array.runs_again:
        return ""
    numbers = " ".join(map(str, array.numbers))
    return (
        f"it has ended, and somebody has had tasks of it queued again (array {numbers}): cancel "
        f"them with scancel {numbers}, and apply again"
    )


def _twice(part: Submission, array: Array, found: Survey) -> str:
    kept = array.state.job if array.state is not None else 0
    if kept and array.numbers and kept not in array.numbers:
        numbers = " ".join(map(str, array.numbers))
        return (
            f"it was submitted as array {kept}, and Slurm has {numbers} under its name: cancel "
            f"that with scancel {numbers}, and apply again"
        )
    if len(array.numbers) < 2:
        return ""
    numbers = " and ".join(map(str, array.numbers))
    return f"Slurm has it as the arrays {numbers}: cancel all but one with scancel, and apply again"


def _on_its_way(part: Submission, array: Array, found: Survey) -> str:
    """It was killed at the submission. What was submitted stays in the queue, since its gate is
    shut: once it cannot be on its way any more, its absence is proof that it was not.
    """
    state = array.state
    if state is None or state.step is not Step.SUBMITTING or array.numbers:
        return ""
    if array.results:
        return (
            "it was submitted and is gone, and tasks of it have run: write a new campaign file to "
            "run it again"
        )
    # The clock may have been ahead then.
    rest = min(state.at, found.host_epoch) + ON_ITS_WAY_SECONDS - found.host_epoch
    if rest <= 0:
        return ""
    return (
        f"an apply was stopped while it submitted it, which may still be on its way: apply again "
        f"in {rest} s"
    )


def _lost(part: Submission, array: Array, found: Survey) -> str:
    """It was let run, and none of its tasks has: that is no end to be recorded."""
    state = array.state
    if state is None or array.is_void or not array.is_lost:
        return ""
    file = state_file(found.directory, state.repository, part.name)
    return (
        f"Slurm has no array {state.job} any more, and no task of it has begun: Slurm has lost it, "
        f"or all of it was cancelled. To have it run, delete {file} on the Slurm host and apply "
        "again; to give it up, remove the campaign"
    )


def _homeless(part: Submission, array: Array, found: Survey) -> str:
    """A prune that Slurm has forgotten, or somebody, has taken its directory away."""
    if not array.homeless or array.has_ended or array.is_void:
        return ""
    if not (array.numbers or array.state is not None):
        return ""
    anew = [f"scancel {number}" for number in array.numbers]
    if array.state is not None:
        anew.append(f"delete {state_file(found.directory, part.repository, part.name)}")
    directory = job_directory(found.directory, part.repository, part.name)
    return (
        f"its directory {directory} on the Slurm host is not there, so that no task can run and "
        f"nothing says what was done: put it back, or, to have it run anew, {' and '.join(anew)}, "
        "and apply again"
    )


def _forgotten(part: Submission, array: Array, found: Survey) -> str:
    """What its tasks have written outlives a state that somebody has lost."""
    if array.state is not None or array.numbers:
        return ""
    if not array.results and part.name not in found.ended:
        return ""
    return (
        "tasks of it have run, as its directory on the Slurm host says, and nothing else is kept "
        "of it: write a new campaign file, or move that directory away to run it again"
    )


def _applied_elsewhere(part: Submission, array: Array, found: Survey) -> str:
    """A repository whose name has changed looks like one that is new."""
    if array.state is not None or array.numbers:
        return ""
    work = (part.name, part.pipeline, part.volumes_sha256)
    for state in found.elsewhere:
        if (state.name, state.pipeline, state.volumes_sha256) == work:
            how = state.record.phase if state.record is not None else "not ended, as far as is kept"
            return (
                f"it was applied there for the repository {state.repository} ({how}): if that is "
                f"this one, write `repository: {state.repository}` into converter.yaml, else give "
                "the campaign file another name"
            )
    return ""


def _ending(part: Submission, array: Array, found: Survey) -> str:
    """A prune forgets an array at once, and Slurm gives its tasks some time to end."""
    if array.numbers or (array.state is not None and not array.is_void):
        return ""
    for name, jobs in found.jobs.items():
        for job in jobs:
            comment = comment_of(job.comment)
            same = comment is not None and comment.digest == part.digest
            if same and job.phase is Phase.COMPLETING and name not in found.states:
                return (
                    f"its volumes are those of {name} (array {job.array_job_id or job.job_id}), "
                    "which was cancelled and whose tasks are ending: apply again in a moment"
                )
    return ""


def _other_work(part: Submission, array: Array, found: Survey) -> str:
    if array.state is not None:
        return ""
    digests = {comment.digest for job in array.jobs if (comment := comment_of(job.comment))}
    if not digests:
        return ""
    if all(job.phase is Phase.COMPLETING for job in array.jobs):
        return f"an array of its name ({array.numbers[0]}) is ending: apply again in a moment"
    if digests == {part.digest}:
        return ""
    return (
        f"Slurm has an array of its name ({array.numbers[0]}) of other work, of which nothing is "
        "kept: rename the file, or cancel that array"
    )


def _changed(part: Submission, array: Array, found: Survey) -> str:
    state = array.state
    if state is None or array.is_void:
        return ""
    rename = "put the old file back and write a new campaign file for the new work"
    if state.volumes_sha256 != part.volumes_sha256:
        if array.has_ended:
            phase = state.record.phase if state.record is not None else "unknown"
            return (
                f"it has ended ({phase}) and its record is of another list of volumes: put the old "
                "list back and write a new campaign file for the new work"
            )
        return f"its list of volumes differs from what was applied: {rename}"
    if array.has_ended or array.has_gone:
        return ""
    if state.pipeline != part.pipeline:
        return f"its pipeline was {state.pipeline} and is now {part.pipeline}: {rename}"
    if state.priority != part.priority:
        return (
            f"its priority was {state.priority or 'none'} and is now {part.priority or 'none'}, "
            "and an array keeps the one it was submitted with: put the old one back until it has "
            "ended, or remove the campaign and write a new file"
        )
    if state.inputs_sha256 != part.inputs_sha256:
        return (
            "its pipeline, its size or the settings in converter.yaml changed since it was "
            "submitted, and an array cannot change: undo the change until it has ended, or remove "
            "the campaign and write a new file"
        )
    return ""


class Claims:
    """Which campaign a volume of a pipeline belongs to: two would write to the same place."""

    def __init__(self, arrays: Mapping[str, Array], wanted: Sequence[Submission]) -> None:
        self._owners: dict[tuple[str, str], str] = {}
        live = {
            name: array.state
            for name, array in arrays.items()
            if array.state is not None and not (array.has_ended or array.has_gone)
        }
        # What is there comes before what may only be on its way.
        for part in sorted(wanted, key=lambda each: arrays[each.name].is_void):
            if part.name in live:
                self._claim(part)
        # Of a list that git has no more the volumes are not known, but whether it is the same one.
        names = {part.name for part in wanted}
        self._lists = {
            (state.pipeline, state.volumes_sha256): state.campaign
            for name, state in live.items()
            if name not in names
        }

    def objection(self, parts: Sequence[Submission], arrays: Mapping[str, Array]) -> str:
        """Why new parts may not go out; what goes out lays claim to its volumes."""
        new = [
            part for part in parts if arrays[part.name].state is None or arrays[part.name].is_void
        ]
        for part in new:
            if owner := self._lists.get((part.pipeline, part.volumes_sha256)):
                return (
                    f"its volumes are those of campaign {owner} of the same pipeline, which git "
                    "has no more and which has not ended: put its old file back, or apply with "
                    "--prune, which cancels it, and then again"
                )
            for volume in part.volumes:
                owner = self._owners.get((part.pipeline, volume), part.campaign)
                if owner != part.campaign:
                    return (
                        f"volume {volume} is in campaign {owner} too, which has not ended and has "
                        f"the same pipeline {part.pipeline}: apply again when it has ended, or "
                        "take the volume out"
                    )
        for part in new:
            self._claim(part)
        return ""

    def _claim(self, part: Submission) -> None:
        for volume in part.volumes:
            self._owners.setdefault((part.pipeline, volume), part.campaign)
