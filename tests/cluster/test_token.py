"""A token that is no longer valid: from the start, and from the middle of an apply on.

It is bound to a Secret, and ends when that is deleted; a token's own time is 10 minutes at least.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster.proxy import Call, Fault, proxied
from cluster.rounds import apply_through, free_the_lease
from cluster.team import SLOW, Team, eventually
from localcluster import ClusterError


@dataclass(frozen=True)
class Token:
    """A token of the apply identity, with the kubeconfig that has it."""

    team: Team
    kubeconfig: Path

    def end(self) -> None:
        """Make it invalid, and wait until the API server has forgotten that it was valid."""
        self.team.kubectl("delete", "secret", "token")
        eventually(lambda: not self._is_valid(), "the end of the token")

    def _is_valid(self) -> bool:
        try:
            self.team.cluster.kubectl.run("auth", "whoami", f"--kubeconfig={self.kubeconfig}")
        except ClusterError:
            return False
        return True


@pytest.fixture
def token(team: Team) -> Token:
    """One that is valid until it is ended."""
    team.kubectl("create", "secret", "generic", "token")
    account = f"{team.tenant.queue}-apply"
    bound = ("--bound-object-kind=Secret", "--bound-object-name=token")
    config = json.loads(team.kubeconfig.read_text())
    config["users"][0]["user"]["token"] = team.kubectl("create", "token", account, *bound).strip()
    kubeconfig = team.repo.parent / "ending-kubeconfig"
    kubeconfig.write_text(json.dumps(config))
    return Token(team, kubeconfig)


def test_a_token_that_has_expired_is_named_in_one_line(team: Team, token: Token) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    token.end()
    done = team.run("apply", ".", kubeconfig=token.kubeconfig)
    assert done.code == 1
    assert len(done.stderr.splitlines()) == 1
    assert "401" in done.stderr
    assert "token" in done.stderr
    assert done.stdout == ""
    assert team.objects("jobs") == []
    assert team.get("lease", "campaigns-apply") is None


def test_a_token_that_ends_in_the_middle_leaves_nothing_that_the_next_apply_cannot_finish(
    team: Team, token: Token
) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("running")
    team.apply()
    eventually(lambda: team.job_status("running").get("active"), "a pod")
    for number in range(4):
        team.write_campaign(f"new-{number}")
    team.write_campaign("running", suspend=True)
    ended: list[Call] = []

    def end_at_the_first_write(call: Call) -> Fault | None:
        if call.verb == "patch" and call.kind == "jobs" and not ended:
            ended.append(call)
            token.end()
        return None

    with proxied(token.kubeconfig, team.repo.parent) as proxy:
        proxy.reset(end_at_the_first_write)
        done = apply_through(team, proxy)
    assert ended
    assert done.code == 1, done.text
    assert "not paused: running" in done.stderr
    assert "has the token expired?" in done.stderr
    assert "Traceback" not in done.stderr
    free_the_lease(team)
    team.apply()
    eventually(lambda: team.status()["running"]["phase"] == "Paused", "the pause")
    eventually(lambda: all(team.admitted(f"new-{n}") for n in range(4)), "the new ones")
