"""Six campaigns, one of each sort, and a change in git that must come through whatever happens."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.proxy import Proxy
from cluster.team import SLOW, Done, Team, condition, eventually

SORTS = ("new", "fresh-pause", "paused", "resuming", "finished", "pruned")


@dataclass
class Round:
    """Six campaigns whose names end in the round's number, before and after the change in git."""

    team: Team
    number: int
    mark: int = 0
    finished_uid: str = ""

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
        team.apply("--prune", "--prune-limit=10")
        eventually(lambda: team.ended(self.name("finished")), "the finished one's end")
        eventually(lambda: team.admitted(self.name("paused")), "an admission")
        self.finished_uid = team.job(self.name("finished"))["metadata"]["uid"]
        self.mark = team.cluster.audit_mark()

    def change(self) -> None:
        """What the merge brings."""
        self.team.write_campaign(self.name("new"))
        self.team.write_campaign(self.name("fresh-pause"), suspend=True)
        self.team.write_campaign(self.name("paused"), suspend=True)
        self.team.write_campaign(self.name("resuming"))
        self.team.delete_campaign(self.name("pruned"))

    def check_pause(self, case: str) -> None:
        """What must hold when an apply says that every pause holds."""
        eventually(lambda: not self.team.pods(self.name("paused")), f"{case}: the pause holds")

    def check(self) -> None:
        """The end state, and what there was on the way to it."""
        team = self.team
        eventually(lambda: team.admitted(self.name("new")), "the new one admitted")
        eventually(lambda: team.admitted(self.name("resuming")), "the resuming one admitted")
        eventually(lambda: not team.pods(self.name("paused")), "no pod of the paused one")
        eventually(lambda: not team.pods(self.name("pruned")), "no pod of the pruned one")
        fresh = team.job(self.name("fresh-pause"))
        assert fresh["spec"]["suspend"] is True
        assert team.workload(self.name("fresh-pause")) is None
        for sort in ("fresh-pause", "finished"):
            assert team.pods_created(self.mark, self.name(sort)) == []
        assert team.job(self.name("finished"))["metadata"]["uid"] == self.finished_uid
        assert condition(team.job(self.name("finished")), "Complete")
        record = team.get("configmap", f"campaign-{self.name('finished')}-status")
        assert record is not None
        assert record["data"]["phase"] == "Finished"
        for sort in SORTS:
            there = sort != "pruned"
            assert (team.get("job", self.name(sort)) is not None) is there
            assert (team.get("configmap", f"campaign-{self.name(sort)}") is not None) is there


def write_pipelines(team: Team) -> None:
    """The pipelines that the campaigns of a round run with."""
    team.write_pipeline(script=SLOW)
    team.write_pipeline("short")


def apply_through(team: Team, proxy: Proxy) -> Done:
    """An apply whose requests go through the proxy, which knows whom to kill."""
    with team.start("apply", ".", "--prune", kubeconfig=proxy.kubeconfig) as process:
        proxy.victim = process.pid
        stdout, stderr = process.communicate()
    return Done(process.returncode, stdout, stderr)


def free_the_lease(team: Team) -> None:
    """What five minutes would do: the killed run cannot renew."""
    if team.get("lease", "campaigns-apply"):
        patch = '--patch={"spec":{"renewTime":"2000-01-01T00:00:00.000000Z"}}'
        team.kubectl("patch", "lease", "campaigns-apply", "--type=merge", patch)
