"""What status and explain say of volumes that fail, on a real Slurm."""

from __future__ import annotations

from slurm.lab import eventually
from slurm.slurm_team import SlurmTeam


def explained(team: SlurmTeam) -> str:
    """In one line, wherever the terminal breaks it."""
    return " ".join(team.run("explain", "letters", ".").stdout.split())


def test_a_volume_that_is_tried_again_and_given_up(team: SlurmTeam) -> None:
    team.write_settings(backoff_limit_per_index=1)
    team.write_pipeline('[ "$VOLUME_ID" != letters-1 ] || exit 7')
    team.write_campaign("letters", 2)
    team.apply()
    eventually(lambda: "tried again" in team.status()["letters"]["detail"], "its first try")
    assert team.status()["letters"]["detail"] == "1 volume failed and is tried again"
    said = explained(team)
    assert "1 of its 2 volumes failed and is tried again, each about two minutes after" in said
    assert "letters-1 (index 1): exit 7 (try 2 of 2 is next)" in said
    assert f"see INDEX.log of each in {team.shared}/campaigns/" in said
    shown = " ".join(team.run("status", ".", "letters").stdout.split())
    assert "letters-1 letters 1 1 tried again exit 7 (try 2 of 2 is next)" in shown

    def is_over() -> bool:
        team.lab.hasten(team.survey().jobs["letters"])
        return team.phases()["letters"] == "PartlyFailed"

    eventually(is_over, "its last try")
    said = explained(team)
    assert "1 of its 2 volumes failed" in said
    assert "letters-1 (index 1): exit 7 after 2 tries" in said
    team.apply()
    assert "exit codes in ../results/INDEX" in explained(team)


def test_what_an_operator_of_slurm_holds_beside_what_runs(team: SlurmTeam) -> None:
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    team.apply()
    eventually(team.at_work.exists, "one task")
    number = team.survey().states["letters"].job
    team.lab.scontrol("hold", f"{number}_[1-2]")
    status = team.status()["letters"]
    assert status["phase"] == "Running"
    assert "what waits stays so: Slurm or an operator holds it (JobHeldAdmin)" in status["detail"]


def test_nodes_that_are_drained_are_no_nodes_that_are_full(team: SlurmTeam) -> None:
    nodes = [f"n{number}" for number in range(1, 5)]
    for node in nodes:
        team.lab.slurm.set_node(node, "DRAIN")
    try:
        team.write_campaign("letters", 2)
        team.apply()
        eventually(
            lambda: "DOWN, DRAINED or reserved" in team.status()["letters"]["detail"], "the reason"
        )
        assert "see sinfo --list-reasons" in explained(team)
    finally:
        for node in nodes:
            team.lab.slurm.set_node(node, "RESUME")
    eventually(lambda: team.phases() == {"letters": "Finished"}, "its end")
