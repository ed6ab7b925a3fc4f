"""Six campaigns, one of each sort, and a change in git that must come through whatever happens."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from cluster.proxy import Proxy
from cluster.team import SLOW, Done, Object, Team, condition, eventually

from converter.cli.repository import load_valid
from converter.cluster.client import Client
from converter.cluster.objects import label, name, uid
from converter.cluster.resources import CONFIGMAPS, JOBS, LEASES, WORKLOADS, Resource
from converter.errors import NotFound
from converter.names import LEASE_NAME
from converter.queues import queue_for
from converter.queues.base import QueueSystem
from converter.reconcile.apply import Options, apply
from converter.reconcile.outcome import Outcome
from converter.reconcile.provenance import Provenance
from converter.render import render

SORTS = ("new", "fresh-pause", "paused", "resuming", "finished", "pruned")
LOG = logging.getLogger(__name__)
PODS = Resource("/api/v1", "pods", "Pod")


@dataclass(frozen=True)
class Seen:
    """A namespace at one time: Jobs and ConfigMaps by name, what is of a Job by the Job's name."""

    jobs: Mapping[str, Object] = field(default_factory=dict)
    configmaps: Mapping[str, Object] = field(default_factory=dict)
    workloads: Mapping[str, Object] = field(default_factory=dict)
    pods: frozenset[str] = frozenset()

    def admitted(self, job: str) -> bool:
        return condition(self.workloads.get(job), "Admitted")

    def ended(self, job: str) -> bool:
        return condition(self.jobs.get(job), "Complete")


def look(team: Team) -> Seen:
    """As the administrator, without the time that kubectl takes: there are hundreds of rounds."""
    client = Client.from_kubeconfig(kubeconfig=team.cluster.kubeconfig)
    jobs, configmaps, workloads, pods = (
        client.list(kind, team.namespace) for kind in (JOBS, CONFIGMAPS, WORKLOADS, PODS)
    )
    names = {uid(job): name(job) for job in jobs}
    of_jobs = {label(each, "kueue.x-k8s.io/job-uid"): each for each in workloads}
    return Seen(
        {name(each): each for each in jobs},
        {name(each): each for each in configmaps},
        {names[job]: each for job, each in of_jobs.items() if job in names},
        frozenset(label(pod, "batch.kubernetes.io/job-name") for pod in pods),
    )


@dataclass
class Round:
    """Six campaigns whose names end in the round's number, before and after the change in git."""

    team: Team
    number: int
    mark: int = 0
    was: Seen = field(default_factory=Seen)

    def name(self, sort: str) -> str:
        return f"{sort}-{self.number}"

    def before(self) -> None:
        """The state that the change starts from."""
        team = self.team
        for file in (team.repo / "campaigns").glob("*.yaml"):
            file.unlink()
        team.write_campaign(self.name("finished"), pipeline="short")
        team.write_campaign(self.name("paused"))
        team.write_campaign(self.name("pruned"))
        team.write_campaign(self.name("resuming"), suspend=True)
        assert apply_here(team, prune=True).exit_code == 0
        eventually(self._is_ready, "the state before the change")
        self.mark = team.cluster.audit_mark()

    def _is_ready(self) -> bool:
        self.was = look(self.team)
        run = [self.name("paused"), self.name("pruned")]
        return self.was.ended(self.name("finished")) and all(map(self.was.admitted, run))

    def change(self) -> None:
        """What the merge brings."""
        self.team.write_campaign(self.name("new"))
        self.team.write_campaign(self.name("fresh-pause"), suspend=True)
        self.team.write_campaign(self.name("paused"), suspend=True)
        self.team.write_campaign(self.name("resuming"))
        self.team.delete_campaign(self.name("pruned"))

    def check_pause(self, case: str) -> None:
        """What must hold when a pause can be enforced, whatever else is wrong."""
        eventually(lambda: not look(self.team).pods & {self.name("paused")}, f"{case}: the pause")
        assert self.team.pods_created(self.mark, self.name("fresh-pause")) == [], case

    def check_nothing_lost(self, case: str) -> None:
        """What there was and git did not take away is there still, the very same object.

        What git did take away goes in an order: no Job may be without its ConfigMap.
        """
        now = look(self.team)
        pruned = self.name("pruned")
        for was, found in ((self.was.jobs, now.jobs), (self.was.configmaps, now.configmaps)):
            kept = {key for key in was if key not in (pruned, f"campaign-{pruned}")}
            assert kept <= found.keys(), f"{case}: {kept - found.keys()} lost"
            assert all(uid(was[key]) == uid(found[key]) for key in kept), f"{case}: made anew"
        if pruned in now.jobs:
            assert f"campaign-{pruned}" in now.configmaps, case

    def check(self, case: str) -> None:
        """The end state, and what there was on the way to it."""
        eventually(self._is_settled, f"{case}: the end state")
        self.check_nothing_lost(case)
        now = look(self.team)
        fresh = now.jobs[self.name("fresh-pause")]
        assert fresh["spec"]["suspend"] is True, case
        assert self.name("fresh-pause") not in now.workloads, case
        created = self.team.pods_created(self.mark)
        expected = {"fresh-pause": 0, "finished": 0, "new": 1, "resuming": 1}
        for sort, count in expected.items():
            # A second one would be there because the first started before it was admitted.
            pods = [pod for pod in created if pod.startswith(f"{self.name(sort)}-")]
            assert len(pods) == count, f"{case}: {pods}"
        assert now.ended(self.name("finished")), case
        record = now.configmaps[f"campaign-{self.name('finished')}-status"]
        assert record["data"]["phase"] == "Finished", case
        for sort in SORTS:
            there = sort != "pruned"
            assert (self.name(sort) in now.jobs) is there, f"{case}: {sort}"
            assert (f"campaign-{self.name(sort)}" in now.configmaps) is there, f"{case}: {sort}"

    def _is_settled(self) -> bool:
        now = look(self.team)
        running = {self.name("new"), self.name("resuming")}
        stopped = {self.name("paused"), self.name("pruned")}
        return all(map(now.admitted, running)) and running <= now.pods and not stopped & now.pods


def write_pipelines(team: Team) -> None:
    """The pipelines that the campaigns of a round run with."""
    team.write_pipeline(script=SLOW)
    team.write_pipeline("short")


def apply_here(team: Team, queue: QueueSystem | None = None, *, prune: bool = False) -> Outcome:
    """An apply in this process: hundreds of times the start of a command would be most of a test.

    It goes past the proxy, and keeps no commit.
    """
    repo = load_valid(team.repo)
    chosen = queue or queue_for(repo.settings.backend)
    provenance = Provenance("", "test", "2026-01-01T00:00:00Z")
    options = Options("tests", "test", provenance, prune=prune, prune_limit=50)
    outcome = Outcome(lambda event: None)
    apply(team.client(), render(repo), repo.settings, chosen, options, outcome)
    return outcome


def apply_through(team: Team, proxy: Proxy) -> Done:
    """An apply whose requests go through the proxy, which knows whom to kill."""
    with team.start("apply", ".", "--prune", kubeconfig=proxy.kubeconfig) as process:
        proxy.victim = process.pid
        stdout, stderr = process.communicate()
    return Done(process.returncode, stdout, stderr)


def free_the_lease(team: Team) -> None:
    """What five minutes would do: the killed run cannot renew."""
    client = Client.from_kubeconfig(kubeconfig=team.cluster.kubeconfig)
    ran_out = {"spec": {"renewTime": "2000-01-01T00:00:00.000000Z"}}
    with suppress(NotFound):
        client.merge_patch(LEASES, team.namespace, LEASE_NAME, ran_out, "tests")


def failures(cases: Mapping[str, Callable[[], None]]) -> list[str]:
    """Run every case and tell all that failed: of hundreds, the first is not enough to know.

    `--log-cli-level=info` shows them as they come.
    """
    failed = []
    for number, (case, check) in enumerate(cases.items(), start=1):
        try:
            check()
            LOG.info("%d of %d, %s: as it must be", number, len(cases), case)
        except AssertionError as error:
            failed.append(f"{case}: {error}")
            LOG.info("%d of %d, %s: FAILED: %s", number, len(cases), case, error)
    return failed
