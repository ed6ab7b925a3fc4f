"""`campaigns retry` from the record on a real cluster."""

from __future__ import annotations

from cluster.team import SLOW, Team, eventually


def test_what_failed_runs_again_as_a_campaign_of_its_own(team: Team) -> None:
    team.write_pipeline(script='[ "$VOLUME_ID" != bad ] || [ "$CAMPAIGN" != pages ] || exit 13')
    team.write_pipeline("slow", script=SLOW)
    team.write_campaign("pages", ["one", {"id": "bad", "source": "a b"}, "two"], window=3)
    team.write_campaign("going", pipeline="slow")
    team.apply()
    unended = team.run("retry", "going")
    assert unended.code == 1
    assert "has not ended yet" in unended.stderr
    eventually(lambda: team.ended("pages"), "the campaign's end")
    assert "apply first" in team.run("retry", "pages").stderr
    team.apply()
    team.kubectl("delete", "job", "pages")

    done = team.run("retry", "pages")
    assert done.code == 0, done.text
    assert "campaigns/pages-retry1.yaml: failed volumes 1" in done.stdout
    team.apply()
    eventually(lambda: team.ended("pages-retry1"), "the end of the retry")
    team.apply()
    shown = team.status()["pages-retry1"]
    assert (shown["phase"], shown["done"], shown["total"]) == ("Finished", 1, 1)
    none = team.run("retry", "pages-retry1")
    assert (none.code, none.stderr.splitlines()[-1]) == (0, "no volume of pages-retry1 failed")
