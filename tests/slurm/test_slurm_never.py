"""What Slurm takes and lets wait for ever, since it asks for what no node has."""

from __future__ import annotations

import pytest
from slurm.lab import eventually
from slurm.slurm_team import SlurmTeam


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ({"cpu": 64, "memory": "64Mi"}, "PartitionConfig"),
        ({"cpu": 1, "memory": "900Gi"}, "BadConstraints"),
    ],
    ids=["more CPUs than any node has", "more memory than any node has"],
)
def test_what_never_starts_is_told_by_every_command(
    size: dict[str, object], reason: str, team: SlurmTeam
) -> None:
    team.write_settings(sizes={"page": {**size, "workdir": "16Mi", "gpu": 0}})
    team.write_campaign("letters", 2)
    team.run("apply", ".")
    eventually(lambda: team.survey().jobs["letters"][0].reason == reason, reason)
    words = "so it never starts"
    assert words in team.status()["letters"]["detail"]
    first = team.run("explain", "letters", ".").stdout
    assert f"{words} (Slurm: {reason})" in first
    assert "remove the campaign with --prune, then correct the size" in " ".join(first.split())
    # Each time, until it is corrected.
    for _ in range(2):
        done = team.apply(code=1)
        assert "not resumed: Array/letters (campaigns/letters.yaml): no node" in done.stderr
        assert words in done.stderr
        assert "0 resumed" in done.stdout
    assert words in team.run("diff", ".").stderr
    # As it says.
    (team.repo / "campaigns/letters.yaml").unlink()
    team.write_settings()
    team.write_campaign("letters-2", 2)
    assert "1 pruned" in team.apply("--prune").stdout
    eventually(lambda: team.phases()["letters-2"] == "Finished", "its end")
