"""What `campaigns apply` does while a part of the cluster is away."""

from __future__ import annotations

from cluster.team import SLOW, Team, eventually


def test_a_pause_that_cannot_be_enforced_is_an_error_and_the_next_apply_enforces_it(
    frail_team: Team,
) -> None:
    team = frail_team
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.job_status("one").get("active"), "a pod")
    team.write_campaign("one", suspend=True)
    team.cluster.stop_component("kueue")
    try:
        done = team.apply(code=1)
    finally:
        team.cluster.start_component("kueue")
    assert "not paused: one" in done.stderr
    eventually(lambda: team.run("apply", ".").code == 0, "an apply that works again")
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
    assert team.pods("one") == []


def test_with_kueue_away_nothing_is_created_that_it_would_find_later(frail_team: Team) -> None:
    team = frail_team
    team.write_pipeline(script=SLOW)
    team.write_campaign("paused", suspend=True)
    team.write_campaign("plain")
    mark = team.cluster.audit_mark()
    team.cluster.stop_component("kueue")
    try:
        done = team.apply(code=1)
        assert team.objects("jobs") == []
    finally:
        team.cluster.start_component("kueue")
    assert "refused: Job/paused" in done.stderr
    assert "refused: Job/plain" in done.stderr
    eventually(lambda: team.run("apply", ".").code == 0, "an apply that works again")
    eventually(lambda: team.admitted("plain"), "the other campaign's admission")
    assert team.pods_created(mark, "paused") == []
