"""Carries out the steps of a plan. One refusal is one object's problem; all else goes on."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from converter.cluster.client import Client
from converter.cluster.objects import Object, uid
from converter.cluster.resources import JOBS, RENDERED
from converter.errors import ApiError, Conflict, NotFound
from converter.manifest import Role
from converter.names import FIELD_MANAGER, HANDOFF_MANAGER
from converter.queues.base import QueueSystem
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.plan import Step, Unit, Verb
from converter.reconcile.provenance import Provenance, stamped
from converter.reconcile.settled import settled_job

REPLACE_WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Sent:
    """What one unit came to. `jobs` are the campaign Jobs as the API server returned them."""

    unit: Unit
    events: tuple[Event, ...]
    refused: bool = False
    jobs: Mapping[str, Object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends units to one namespace."""

    client: Client
    namespace: str
    queue: QueueSystem
    provenance: Provenance

    def try_out(self, unit: Unit) -> Sent:
        """Dry run of every object of a unit that would change, admission webhooks included."""
        for step in _changing(unit):
            tried = _without_handoff(step)
            try:
                answered = self._apply(tried, dry_run=True)
            except ApiError as error:
                return _refused(unit, step, error, [])
            created = step.verb is Verb.CREATE and step.manifest.role is Role.CAMPAIGN
            if created and (reason := self.queue.dry_run_objection(tried.body, answered)):
                held = Event(Fate.HELD_BACK, f"campaign {unit.campaign}", reason, unit.campaign)
                return Sent(unit, (held,), refused=True)
        return Sent(unit, ())

    def send(self, unit: Unit) -> Sent:
        """Apply a unit's objects in order; the first refusal leaves the rest unsent."""
        events: list[Event] = []
        jobs: dict[str, Object] = {}
        job_uid = ""
        for step in unit.steps:
            if step.verb is Verb.UNCHANGED:
                job_uid = step.live_uid if step.manifest.role is Role.CAMPAIGN else job_uid
                events.append(_event(Fate.UNCHANGED, unit, step))
                if step.note:
                    events.append(_event(Fate.NOTE, unit, step, step.note))
                continue
            sent = step
            if step.manifest.role is Role.VOLUMES:
                sent = replace(step, body=stamped(step.body, self.provenance, job_uid))
            try:
                if step.verb is Verb.REPLACE:
                    self._remove(step)
                live = self._apply(sent, dry_run=False)
            except ApiError as error:
                return _refused(unit, step, error, events)
            if step.manifest.role is Role.CAMPAIGN:
                jobs[step.manifest.name] = live
                job_uid = uid(live)
            events.append(_event(Fate(step.verb.value), unit, step))
        return Sent(unit, tuple(events), jobs=jobs)

    def _apply(self, step: Step, *, dry_run: bool) -> Object:
        try:
            return self._apply_as_planned(step, dry_run=dry_run)
        except Conflict as error:
            is_job = step.manifest.role is Role.CAMPAIGN and step.verb is Verb.UPDATE
            if not (is_job and _field_managers(error)):
                raise
            # The queue has taken a field over since the live state was read.
            return self._apply_as_planned(self._prepared_anew(step, dry_run), dry_run=dry_run)

    def _apply_as_planned(self, step: Step, *, dry_run: bool) -> Object:
        resource = RENDERED[step.manifest.kind]
        pinned = _pinned(step.body, step)
        if step.handoff is not None:
            handoff = _pinned(step.handoff, step)
            try:
                self.client.apply(resource, self.namespace, handoff, manager=HANDOFF_MANAGER)
            except Conflict as error:
                # The queue has flipped the field since it was read, so it is in its hands. Without
                # the hand-off for any other reason, the render would start pods.
                if not _field_managers(error):
                    raise
        try:
            return self.client.apply(
                resource,
                self.namespace,
                pinned,
                manager=FIELD_MANAGER,
                dry_run=dry_run,
                create=dry_run and step.verb is Verb.CREATE,
            )
        except Conflict as error:
            managers = _field_managers(error)
            hand_edit = managers and not any(map(self.queue.is_controller, managers))
            # What is there though it was to be made has been made by somebody since.
            if not hand_edit or step.verb is not Verb.UPDATE:
                raise
            # Somebody edited it by hand, which git may overrule.
            return self.client.apply(
                resource,
                self.namespace,
                pinned,
                manager=FIELD_MANAGER,
                force=True,
                dry_run=dry_run,
            )

    def _prepared_anew(self, step: Step, dry_run: bool) -> Step:
        """The step of a campaign's Job for the Job as it is now."""
        live = self.client.get(JOBS, self.namespace, step.manifest.name)
        prepared = self.queue.prepare(settled_job(step.manifest.body, live), live)
        anew = replace(step, body=prepared.body, handoff=prepared.handoff)
        return _without_handoff(anew) if dry_run else anew

    def _remove(self, step: Step) -> None:
        """Delete the object and wait until it is gone: its name is needed again."""
        resource = RENDERED[step.manifest.kind]
        self.client.delete(resource, self.namespace, step.manifest.name, uid=step.live_uid)
        until = time.monotonic() + REPLACE_WAIT_SECONDS
        while time.monotonic() < until:
            try:
                self.client.get(resource, self.namespace, step.manifest.name)
            except NotFound:
                return
            time.sleep(0.5)
            self.client.check()
        raise Conflict(
            "delete",
            step.manifest.target,
            409,
            "StillTerminating",
            f"it is not gone after {REPLACE_WAIT_SECONDS:g} s, so it could not be made anew: "
            "apply again",
        )


def _changing(unit: Unit) -> Iterator[Step]:
    return (step for step in unit.steps if step.verb in (Verb.CREATE, Verb.UPDATE))


def _without_handoff(step: Step) -> Step:
    """A dry run cannot send a hand-off, so it names the field that the hand-off would keep."""
    if step.handoff is None:
        return step
    body = {**step.body, "spec": {**step.body["spec"], "suspend": True}}
    return replace(step, body=body, handoff=None)


def _field_managers(error: Conflict) -> list[str]:
    """Whose fields an apply would have changed; none where the conflict is of another kind."""
    return [
        cause.message.partition('conflict with "')[2].partition('"')[0]
        for cause in error.causes
        if cause.reason == "FieldManagerConflict"
    ]


def _pinned(body: Object, step: Step) -> Object:
    """With the uid of the object that the plan was made for.

    Without it, an apply to a Job that was deleted since would create it, and run it, again.
    """
    if step.verb is not Verb.UPDATE:
        return body
    return {**body, "metadata": {**body["metadata"], "uid": step.live_uid}}


def _event(fate: Fate, unit: Unit, step: Step, detail: str = "") -> Event:
    return Event(fate, step.manifest.target, detail, unit.campaign)


def _refused(unit: Unit, step: Step, error: ApiError, before: list[Event]) -> Sent:
    event = _event(Fate.REFUSED, unit, step, f"{error.reason}: {error.message}")
    return Sent(unit, (*before, event), refused=True)
