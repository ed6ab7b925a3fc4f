"""Campaigns that are paused and resumed over and over in a busy queue, on fake nodes.

No pod without an admission, none that comes to anything of a campaign whose pause was reported, and
in the end every volume done exactly once. With `--exhaustive` there are 200 cycles, else some.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from cluster.history import Change, Judge, Watch, completed, report, version_of, watched
from cluster.rounds import apply_here, look
from cluster.team import SLOW, Team, condition, eventually

from converter.cluster.client import Client
from converter.cluster.objects import Object, is_suspended
from converter.cluster.resources import LEASES
from converter.names import LEASE_NAME
from converter.queues.base import Prepared
from converter.queues.kueue import Kueue
from converter.reconcile.outcome import Fate

LOG = logging.getLogger(__name__)
CYCLES, ALL_CYCLES = 10, 200
NAMES = [f"c{n}" for n in range(10)]
# Four of the ten at once, two pods each.
QUOTA = {"cpu": 8, "memory": "8Gi", "nvidia.com/gpu": 1}
SIZE = {"cpu": "1", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}
FAKE_NODES = {
    "node_selector": {"type": "kwok"},
    "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists", "effect": "NoSchedule"}],
}


@dataclass
class Campaigns:
    """Ten campaigns of a team, and which of them are paused in git."""

    team: Team
    volumes: int
    queue: Kueue = field(default_factory=Kueue)
    paused: set[str] = field(default_factory=set)
    reports: list[Change] = field(default_factory=list)
    fates: dict[Fate, int] = field(default_factory=lambda: {Fate.PAUSED: 0, Fate.RESUMED: 0})

    def write(self, *names: str) -> None:
        for name in names:
            suspend = name in self.paused
            self.team.write_campaign(name, self.volumes, window=2, suspend=suspend)

    def apply(self) -> None:
        if self.reports:
            # What git no longer pauses may start before the apply that resumes it has ended.
            self._report(self.paused & self.reports[-1].object.keys())
        outcome = apply_here(self.team, self.queue)
        assert outcome.exit_code == 0, list(map(str, outcome.events))
        for fate in self.fates:
            self.fates[fate] += outcome.count(fate)
        self._report(self.paused)

    def _report(self, paused: set[str]) -> None:
        """From now on; a write says when that is."""
        client = Client.from_kubeconfig(kubeconfig=self.team.cluster.kubeconfig)
        mark = {"metadata": {"annotations": {"reports": str(len(self.reports))}}}
        lease = client.merge_patch(LEASES, self.team.namespace, LEASE_NAME, mark, "tests")
        self.reports.append(report(version_of(lease), paused))

    def are_settled(self) -> bool:
        """Whether no paused campaign has an active pod, and Kueue has put all of them away."""
        jobs = look(self.team).jobs
        return all(
            jobs[name].get("status", {}).get("active", 0) == 0 and is_suspended(jobs[name])
            for name in self.paused
            if not condition(jobs[name], "Complete")
        )

    def judged(self, watch: Watch) -> Judge:
        eventually(watch.is_up_to_date, "the watches' last events")
        history = sorted([*watch.changes(), *self.reports], key=lambda change: change.version)
        return Judge().hear(history)


def on_fake_nodes(team: Team, *, policies: bool = True) -> None:
    security = {"policies": {"enabled": policies}}
    team.tenant.install({"queue": {"quota": QUOTA}, "security": security})
    team.write_settings(sizes={"s": SIZE}, **FAKE_NODES)
    team.write_pipeline()


def test_paused_and_resumed_over_and_over_every_volume_is_done_once(
    team: Team, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    on_fake_nodes(team)
    cycles = ALL_CYCLES if request.config.getoption("--exhaustive") else CYCLES
    chance = random.Random(3)  # noqa: S311
    campaigns = Campaigns(team, volumes=max(3, cycles // 10), paused=set(NAMES[::2]))
    campaigns.write(*NAMES)
    with watched(team, tmp_path) as watch:
        campaigns.apply()
        for _ in range(cycles):
            changed = chance.sample(NAMES, chance.randint(1, 4))
            campaigns.paused ^= set(changed)
            campaigns.write(*changed)
            campaigns.apply()
            # Else the next change comes while this one is still under way.
            if chance.random() < 0.5:
                eventually(campaigns.are_settled, "no active pod of a paused campaign")
        campaigns.paused.clear()
        campaigns.write(*NAMES)
        campaigns.apply()
        eventually(lambda: team.ended(*NAMES), "all of them have ended", seconds=1200)
        judge = campaigns.judged(watch)
    assert judge.faults == []
    campaigns.apply()
    for name in NAMES:
        record = team.get("configmap", f"campaign-{name}-status")
        assert record is not None
        done = str(campaigns.volumes)
        ended = {"phase": "Finished", "volumesDone": done, "volumesTotal": done}
        assert ended.items() <= record["data"].items()
        assert completed(team.job(name)) == frozenset(range(campaigns.volumes))
    paused, resumed = campaigns.fates.values()
    LOG.info("%d pauses, %d resumes, %d pods stopped", paused, resumed, judge.stopped)
    LOG.info("%d pauses overtaken, %d pods late", judge.overtaken, len(judge.late))
    LOG.info("%d volumes run again", judge.again)
    assert min(paused, resumed) >= cycles // 2
    assert judge.stopped, "no pod was ever stopped by a pause"


class WithoutHandoff(Kueue):
    """What would be sent if there were no hand-off."""

    def prepare(self, job: Object, live: Object | None) -> Prepared:
        return replace(super().prepare(job, live), handoff=None)


def test_the_history_shows_a_start_with_no_admission(team: Team, tmp_path: Path) -> None:
    """The same campaigns without the hand-off: so the test above can see what it looks for.

    The chart's policies would refuse it.
    """
    on_fake_nodes(team, policies=False)
    campaigns = Campaigns(team, volumes=2, queue=WithoutHandoff())
    with watched(team, tmp_path) as watch:
        for paused in ([], NAMES, []):
            campaigns.paused = set(paused)
            campaigns.write(*NAMES)
            campaigns.apply()
        faults = campaigns.judged(watch).faults
    # Six of the ten were never admitted before their pause, and none of those waits for it now.
    assert sum(fault.endswith("started with no admission") for fault in faults) > 1, faults


def test_a_pause_is_no_failure_of_the_volume_that_it_stops(team: Team) -> None:
    """A volume that no failure is forgiven is stopped by a pause, and runs again."""
    team.write_settings(backoff_limit_per_index=0)
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.job_status("one").get("ready"), "a pod that runs")
    team.write_campaign("one", suspend=True)
    team.apply()
    eventually(lambda: not team.job_status("one").get("active"), "the pause")
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.job_status("one").get("ready"), "a pod that runs again")
    assert team.job_status("one")["failedIndexes"] == ""
