"""Carries out the steps of a plan. One refusal is one object's problem; all else goes on."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

from converter.cluster.client import Client
from converter.cluster.objects import uid
from converter.cluster.resources import RENDERED
from converter.errors import ApiError, Conflict, NotFound
from converter.manifest import Role
from converter.names import FIELD_MANAGER, HANDOFF_MANAGER
from converter.queues.base import Object, QueueSystem
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.plan import Step, Unit, Verb
from converter.reconcile.provenance import Provenance, stamped

REPLACE_WAIT_SECONDS = 60.0

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(
    work: Callable[[Item], Result], items: Iterable[Item], concurrency: int
) -> Iterator[Result]:
    """The results of `work` on each item, as they come, at most `concurrency` at once.

    The first exception drops what has not been started and is raised.
    """
    with ThreadPoolExecutor(max_workers=concurrency) as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in as_completed(futures):
                yield future.result()
        finally:
            pool.shutdown(cancel_futures=True)


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
            body = _tried_body(step)
            try:
                answered = self._apply(step, body, dry_run=True)
            except ApiError as error:
                return _refused(unit, step, error, [])
            created = step.verb is Verb.CREATE and step.manifest.role is Role.CAMPAIGN
            if created and (reason := self.queue.dry_run_objection(body, answered)):
                held = Event(Fate.HELD_BACK, f"campaign {unit.campaign}", reason)
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
                events.append(Event(Fate.UNCHANGED, step.manifest.target))
                continue
            body = step.body
            if step.manifest.role is Role.VOLUMES:
                body = stamped(body, self.provenance, job_uid)
            try:
                if step.verb is Verb.REPLACE:
                    self._remove(step)
                live = self._apply(step, body, dry_run=False)
            except ApiError as error:
                return _refused(unit, step, error, events)
            if step.manifest.role is Role.CAMPAIGN:
                jobs[step.manifest.name] = live
                job_uid = uid(live)
            events.append(Event(Fate(step.verb.value), step.manifest.target))
        return Sent(unit, tuple(events), jobs=jobs)

    def _apply(self, step: Step, body: Object, *, dry_run: bool) -> Object:
        resource = RENDERED[step.manifest.kind]
        pinned = _pinned(body, step)
        if step.handoff is not None and not dry_run:
            handoff = _pinned(step.handoff, step)
            # A conflict: the queue has flipped the field since it was read, so it is in its hands.
            with suppress(Conflict):
                self.client.apply(resource, self.namespace, handoff, manager=HANDOFF_MANAGER)
        try:
            return self.client.apply(
                resource, self.namespace, pinned, manager=FIELD_MANAGER, dry_run=dry_run
            )
        except Conflict as error:
            if not self._only_hand_edits(error):
                raise
            return self.client.apply(
                resource,
                self.namespace,
                pinned,
                manager=FIELD_MANAGER,
                force=True,
                dry_run=dry_run,
            )

    def _only_hand_edits(self, error: Conflict) -> bool:
        """Whether each conflict is with a manager that is no controller, so git may overrule it."""
        managers = [
            cause.message.partition('conflict with "')[2].partition('"')[0]
            for cause in error.causes
            if cause.reason == "FieldManagerConflict"
        ]
        return bool(managers) and not any(map(self.queue.is_controller, managers))

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


def _tried_body(step: Step) -> Object:
    """A dry run cannot send a hand-off, so it names the field that the hand-off would keep."""
    if step.handoff is None:
        return step.body
    return {**step.body, "spec": {**step.body["spec"], "suspend": True}}


def _pinned(body: Object, step: Step) -> Object:
    """With the uid of the object that the plan was made for.

    Without it, an apply to a Job that was deleted since would create it, and run it, again.
    """
    if step.verb is not Verb.UPDATE:
        return body
    return {**body, "metadata": {**body["metadata"], "uid": step.live_uid}}


def _refused(unit: Unit, step: Step, error: ApiError, before: list[Event]) -> Sent:
    event = Event(Fate.REFUSED, step.manifest.target, f"{error.reason}: {error.message}")
    return Sent(unit, (*before, event), refused=True)
