"""Reads the cluster and asks it by dry run. Nothing is written, and no Lease is taken."""

from collections.abc import Mapping, Sequence
from typing import Any

from converter.cluster.client import Client
from converter.cluster.objects import Object
from converter.cluster.resources import RENDERED, Resource
from converter.cluster.status import may_not_send
from converter.diff.change import Action, Change, Comparison
from converter.diff.decide import Rehearsed, changes
from converter.errors import Forbidden, Refused
from converter.manifest import Manifest
from converter.model import Settings
from converter.queues import queue_for
from converter.reconcile.execute import Sender
from converter.reconcile.live import Live
from converter.reconcile.outcome import Outcome
from converter.reconcile.plan import Plan, Unit, Verb
from converter.reconcile.provenance import Provenance
from converter.reconcile.prune import check_limit, live_campaigns
from converter.reconcile.rehearsal import intend, tell, try_out


class DryRunClient(Client):
    """A client whose every apply is a dry run; `answers` are the objects by ``Kind/name``."""

    answers: dict[str, Object]

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.answers = {}

    def apply(
        self,
        resource: Resource,
        namespace: str,
        body: Mapping[str, Any],
        *,
        manager: str,
        force: bool = False,
        dry_run: bool = True,
        create: bool = False,
    ) -> dict[str, Any]:
        """The object as it would then be.

        Raises Refused where the identity may not even try, since then nothing can be compared.
        """
        del dry_run
        try:
            answered = super().apply(
                resource,
                namespace,
                body,
                manager=manager,
                force=force,
                dry_run=True,
                create=create,
            )
        except Forbidden as error:
            if error.status == 401 or may_not_send(error.message):
                raise _not_permitted(resource, namespace, error) from error
            raise
        self.answers[f"{resource.kind}/{body['metadata']['name']}"] = answered
        return answered


def compare(
    client: DryRunClient,
    manifests: Sequence[Manifest],
    settings: Settings,
    live: Live,
    *,
    prune: bool,
    release_holds: bool = False,
    concurrency: int,
) -> Comparison:
    """What an apply of `manifests`, with these options or without, would do to what is live.

    Sends reads of the queue where a campaign is to be admitted, and a dry run for each object that
    would change. Raises Refused where dry runs are not permitted.
    """
    namespace, repository = settings.namespace, settings.repository
    queue = queue_for(settings.backend)
    intent = intend(
        client, manifests, settings, queue, live, repository=repository, concurrency=concurrency
    )
    plan = intent.plan.keeping_held() if prune and not release_holds else intent.plan
    outcome = Outcome(lambda event: None)
    outcome.extend(intent.unchecked)
    tell(plan, outcome)
    sender = Sender(client, namespace, queue, Provenance("", "", ""))
    accepted = try_out(sender, plan, outcome, concurrency)
    units = (*accepted.pipelines, *accepted.campaigns)
    rehearsed = Rehearsed(
        plan,
        live,
        accepted,
        outcome.events,
        client.answers,
        _changed_meanwhile(client, namespace, live, units),
    )
    found = changes(rehearsed, prune=prune, reactivate=settings.reactivate)
    objection = _prune_objection(manifests, plan, live, settings) if prune else ""
    if objection:
        found = (Change(Action.REFUSED, "prune", objection), *found)
    return Comparison(found)


def _prune_objection(
    manifests: Sequence[Manifest], plan: Plan, live: Live, settings: Settings
) -> str:
    """Why an apply with --prune would send nothing; empty where it would not refuse."""
    if not any(each.campaign for each in manifests):
        return "there is no campaign in the repository: apply asks for --allow-empty"
    try:
        check_limit(plan, live_campaigns(live, settings.repository), settings.prune_limit)
    except Refused as error:
        return str(error)
    return ""


def _changed_meanwhile(
    client: DryRunClient, namespace: str, live: Live, units: Sequence[Unit]
) -> dict[str, Object]:
    """The objects that somebody, or Kueue, has changed between the LIST and the dry run.

    Read again, since else that change would look like one of git's.
    """
    found: dict[str, Object] = {}
    updates = (step for unit in units for step in unit.steps if step.verb is Verb.UPDATE)
    for step in updates:
        target = step.manifest.target
        was, is_now = live.find(step.manifest.kind, step.manifest.name), client.answers[target]
        if was is not None and _version(was) != _version(is_now):
            resource = RENDERED[step.manifest.kind]
            found[target] = client.get(resource, namespace, step.manifest.name)
    return found


def _version(found: Object) -> str:
    return str(found["metadata"].get("resourceVersion", ""))


def _not_permitted(resource: Resource, namespace: str, error: Forbidden) -> Refused:
    if error.status == 401:
        return Refused(str(error))
    return Refused(
        f"not permitted to dry-run {resource.plural} in namespace {namespace} ({error.message}): "
        "diff asks the API server what would become of each change, which needs the verbs create "
        "and patch of jobs and configmaps: use the kubeconfig that apply uses"
    )
