"""A CI job of an older commit that runs late must not undo a newer merge."""

from __future__ import annotations

import subprocess

from cluster.team import SLOW, Team, eventually


def git(team: Team, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", "-C", str(team.repo), *identity, *arguments],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def commit(team: Team) -> str:
    git(team, "add", "--all")
    git(team, "commit", "--quiet", "--message", "a merge")
    return git(team, "rev-parse", "HEAD")


def test_an_older_commit_applied_late_sends_nothing(team: Team) -> None:
    git(team, "init", "--quiet", "--initial-branch=main")
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    older = commit(team)
    team.apply()
    eventually(lambda: team.admitted("one"), "the admission")
    team.write_campaign("one", suspend=True)
    newer = commit(team)
    team.apply()
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")

    git(team, "checkout", "--quiet", older)
    mark = team.cluster.audit_mark()
    late = team.apply(code=1)
    assert f"commit {older[:12]} is older than {newer[:12]}" in late.stderr
    assert [e for e in team.requests(mark) if e.is_write] == []
    # The files are the older ones.
    shown = team.status()["one"]
    assert (shown["phase"], shown["clusterPhase"]) == ("Drifted", "Paused")

    team.apply("--allow-older")
    eventually(lambda: team.admitted("one"), "the campaign resumed on purpose")
    git(team, "checkout", "--quiet", newer)
    assert "1 paused" in team.apply().stdout
    configmap = team.get("configmap", "campaign-one")
    assert configmap is not None
    assert configmap["metadata"]["annotations"]["gitops-campaigns.io/commit"] == older
