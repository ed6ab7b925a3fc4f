"""Why a pipeline or a campaign is held back: one function a rule, each a pure reading of values.

A rule returns one sentence that says what is wrong and the way through, or "" when it has no
objection. A campaign that one rule objects to is held back whole; all else goes on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from converter.cluster.objects import (
    Object,
    annotation,
    is_being_deleted,
    is_ours,
    job_end,
    label,
    name,
    uid,
)
from converter.holds.words import in_force, lifted_by
from converter.manifest import Manifest, Role
from converter.names import (
    INPUTS_ANNOTATION,
    JOB_UID_ANNOTATION,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    PIPELINE_LABEL,
    RECIPE_ANNOTATION,
    REPOSITORY_ANNOTATION,
    VOLUMES_ANNOTATION,
    status_configmap,
)
from converter.reconcile.held import hold_on, strongest
from converter.reconcile.live import Live, in_role, workloads_of
from converter.reconcile.queue_rules import queued_otherwise
from converter.reconcile.record import Record
from converter.wording import first_few


@dataclass(frozen=True, slots=True)
class Part:
    """One Job of a campaign and the ConfigMap of its volumes, as rendered."""

    job: Manifest
    volumes: Manifest


def hold_back_pipeline(objects: Sequence[Manifest], live: Live, repository: str) -> str:
    """The first objection to applying a pipeline's objects."""
    for manifest in objects:
        present = live.find(manifest.kind, manifest.name)
        if reason := _foreign(manifest.target, present, repository):
            return reason
    for manifest in objects:
        if manifest.role is Role.PIPELINE:
            return _changed_recipe(manifest, live, repository)
    return ""


def hold_back_campaign(
    parts: Sequence[Part], live: Live, repository: str, present: Sequence[Object]
) -> str:
    """The first objection to applying a campaign. `present` is what is live of it."""
    for part in parts:
        status_name = status_configmap(part.job.name)
        named = (
            (part.job.target, live.jobs.get(part.job.name)),
            (part.volumes.target, live.configmaps.get(part.volumes.name)),
            (f"ConfigMap/{status_name}", live.configmaps.get(status_name)),
        )
        for target, found in named:
            if reason := _foreign(target, found, repository):
                return reason
    if reason := _changed_parts(parts, present) or _new_part_under_hold(parts, live):
        return reason
    checks = (
        _being_deleted,
        _unreadable_record,
        _changed_volumes,
        _recorded_otherwise,
        _lost,
        _made_anew,
        _changed_inputs,
    )
    for part in parts:
        for rule in checks:
            if reason := rule(part, live):
                return reason
        if reason := queued_otherwise(part.job, live):
            return reason
    return ""


def out_of_reach(parts: Sequence[Part], live: Live, repository: str) -> Iterator[tuple[str, str]]:
    """Jobs of a campaign's names that may run and are not ours to pause, each with the reason."""
    for part in parts:
        job = live.jobs.get(part.job.name)
        if job is None or job_end(job) is not None:
            continue
        if reason := _foreign(part.job.target, job, repository):
            yield part.job.name, reason


def is_finished(part: Part, live: Live) -> bool:
    """Whether a part has ended and is never to run again. A live Job outranks a record."""
    job = live.jobs.get(part.job.name)
    if job is not None:
        return job_end(job) is not None
    try:
        record = _record(part, live)
    except ValueError:
        return False
    return record is not None and _belongs(record, part, live)


def _foreign(target: str, present: Object | None, repository: str) -> str:
    if present is None or is_ours(present, repository):
        return ""
    if label(present, MANAGED_BY_LABEL) != MANAGED_BY_VALUE:
        return (
            f"{target} exists and was not made by campaigns; it is neither adopted nor "
            "overwritten: delete it, or rename the file"
        )
    other = annotation(present, REPOSITORY_ANNOTATION) or "unknown"
    return (
        f"{target} belongs to repository {other}, this one is {repository}: rename the file, or "
        "set `repository` in converter.yaml if both are the same repository"
    )


def _changed_recipe(manifest: Manifest, live: Live, repository: str) -> str:
    present = live.configmaps.get(manifest.name)
    if present is None or _same(present, manifest.body, RECIPE_ANNOTATION):
        return ""
    users = sorted(
        name(job)
        for job in in_role(live.jobs.values(), Role.CAMPAIGN, repository)
        if label(job, PIPELINE_LABEL) == manifest.pipeline and job_end(job) is None
    )
    if not users:
        return ""
    return (
        f"its recipe changed while {', '.join(users)} still runs with it: put the old file back "
        f"and write the new recipe to a new file, for example pipelines/{manifest.pipeline}-2.yaml"
    )


def _being_deleted(part: Part, live: Live) -> str:
    """Nothing can be said of a Job on its way out but that it will be gone."""
    job = live.jobs.get(part.job.name)
    if job is None or job_end(job) is not None or not is_being_deleted(job):
        return ""
    return (
        f"somebody has deleted its Job {part.job.name}, which is not gone yet: wait until it is, "
        "and apply again"
    )


def _unreadable_record(part: Part, live: Live) -> str:
    try:
        _record(part, live)
    except ValueError as error:
        return (
            f"ConfigMap/{status_configmap(part.job.name)} is not a record that can be read "
            f"({error}), so it is not known whether the campaign has finished: repair or delete it"
        )
    return ""


def _changed_volumes(part: Part, live: Live) -> str:
    present = live.configmaps.get(part.volumes.name)
    if present is None:
        return ""
    rename = "put the old file back and write a new campaign file for the new work"
    if _is_another_list(present, part.volumes.body):
        return f"its list of volumes differs from what was applied: {rename}"
    was = label(present, PIPELINE_LABEL)
    if was != part.job.pipeline:
        return f"its pipeline was {was} and is now {part.job.pipeline}: {rename}"
    return ""


def _is_another_list(present: Object, rendered: Object) -> bool:
    """By digest of what the file says: a newer release may write the same list in another way."""
    if annotation(present, VOLUMES_ANNOTATION):
        return not _same(present, rendered, VOLUMES_ANNOTATION)
    return bool(present.get("data") != rendered["data"])


def _changed_parts(parts: Sequence[Part], present: Sequence[Object]) -> str:
    """A list of volumes that grows past a part's limit gets Jobs of other names."""
    rendered = {manifest.name for part in parts for manifest in (part.job, part.volumes)}
    rendered |= {status_configmap(part.job.name) for part in parts}
    others = sorted({name(each) for each in present} - rendered)
    if not others:
        return ""
    return (
        f"its list of volumes differs from what was applied as {', '.join(others)}: put the old "
        "file back and write a new campaign file for the new work"
    )


def _new_part_under_hold(parts: Sequence[Part], live: Live) -> str:
    """A part that is not there yet would start beside those that are on hold.

    An apply that was stopped part-way, or a list of volumes that grew, leaves such a one.
    """
    jobs = [live.jobs.get(part.job.name) for part in parts]
    mark = strongest(hold_on(job, workloads_of(job, live.workloads)) for job in jobs)
    new = [part.job.name for part in parts if _is_new(part, live)]
    if mark is None or not new:
        return ""
    return (
        f"{first_few(new)} would be created while {in_force(mark)} on another part: apply again "
        f"when it is released ({lifted_by(mark, parts[0].job.campaign)})"
    )


def _is_new(part: Part, live: Live) -> bool:
    """What has been there and is gone has rules of its own."""
    known = (part.volumes.name, status_configmap(part.job.name))
    return part.job.name not in live.jobs and not any(each in live.configmaps for each in known)


def _lost(part: Part, live: Live) -> str:
    """The ConfigMap is applied after its Job, so it proves that there was one."""
    if part.job.name in live.jobs or part.volumes.name not in live.configmaps:
        return ""
    if is_finished(part, live):
        return ""
    return (
        f"its Job {part.job.name} was created and is gone, and no record says how it ended, so it "
        "may have finished: write a new campaign file to run it again"
    )


def _made_anew(part: Part, live: Live) -> str:
    """A Job that is not the one which ended: somebody applied what `render` writes, or kept it."""
    job = live.jobs.get(part.job.name)
    record = _record(part, live)
    if job is None or job_end(job) is not None or record is None or record.job_uid == uid(job):
        return ""
    volumes = live.configmaps.get(part.volumes.name)
    if volumes is None or annotation(volumes, JOB_UID_ANNOTATION) != record.job_uid:
        return ""
    return (
        f"it has ended ({record.phase}), and somebody made its Job {part.job.name} anew, which is "
        "not applied: delete that Job, and to have the work done again write a new campaign file"
    )


def _recorded_otherwise(part: Part, live: Live) -> str:
    """A record of another list: the campaign has ended, and its name cannot be used for another."""
    if part.job.name in live.jobs or part.volumes.name in live.configmaps:
        return ""
    record = _record(part, live)
    if record is None or _belongs(record, part, live):
        return ""
    return (
        f"it has ended ({record.phase}) and its record is of another list of volumes: put the old "
        "list back and write a new campaign file for the new work"
    )


def _changed_inputs(part: Part, live: Live) -> str:
    job = live.jobs.get(part.job.name)
    if job is None or job_end(job) is not None or _same(job, part.job.body, INPUTS_ANNOTATION):
        return ""
    return (
        "its pipeline, its size or the settings in converter.yaml changed since it was created, "
        "and the pods of a live Job cannot change: undo the change until it has finished, or "
        "remove the campaign and write a new file"
    )


def _record(part: Part, live: Live) -> Record | None:
    present = live.configmaps.get(status_configmap(part.job.name))
    return None if present is None else Record.from_data(present.get("data") or {})


def _belongs(record: Record, part: Part, live: Live) -> bool:
    """A record counts for the Job stamped on the ConfigMap and for the volumes that it ran."""
    present = live.configmaps.get(part.volumes.name)
    if present is not None and annotation(present, JOB_UID_ANNOTATION) != record.job_uid:
        return False
    # Unknown volumes count as the same: what has finished is not run twice on a guess.
    return record.volumes_sha256 in ("", annotation(part.volumes.body, VOLUMES_ANNOTATION))


def _same(present: Object, rendered: Object, key: str) -> bool:
    return annotation(present, key) == annotation(rendered, key)
