"""How long `campaigns diff` takes where nothing differs, and `campaigns status`, beside kubectl.

``make bench`` runs it, on a cluster of its own that it starts.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from bench.side_by_side import Timed, command, medians, ratio, show
from cluster.team import Team

BIN: Final = Path(sys.executable).parent
DIFF: Final = "campaigns diff"
KUBECTL: Final = "kubectl diff --server-side"
STATUS: Final = "campaigns status"
GET_JOBS: Final = "kubectl get jobs -o json"
CAMPAIGNS: Final = 500
# Of what takes half a minute each time.
ROUNDS: Final = 3


def kubectl(team: Team) -> tuple[str, str]:
    """As the identity that the product has."""
    return str(team.cluster.kubectl.command), f"--kubeconfig={team.kubeconfig}"


def kubectl_diff(team: Team, rendered: Path) -> Timed:
    """Of the same objects, as the same identity.

    It does find differences, since it does not know what apply has put on the objects besides.
    """
    arguments = [
        *kubectl(team),
        "diff",
        "--server-side",
        "--field-manager=campaigns",
        "--recursive",
        f"--filename={rendered}",
    ]

    def run() -> None:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), done.stderr

    return Timed(run)


@pytest.mark.timeout(0)
def test_many_unchanged_campaigns(
    team: Team, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """All paused, so that nothing runs meanwhile."""
    team.write_pipeline()
    for number in range(CAMPAIGNS):
        team.write_campaign(f"letters-{number:04}", 20, suspend=True)
    team.apply()
    rendered = tmp_path / "rendered"
    assert team.run("render", ".", "--out", str(rendered)).code == 0
    diff = (BIN / "campaigns", "diff", team.repo, "--kubeconfig", team.kubeconfig)
    seconds = medians(
        {DIFF: command(*diff), KUBECTL: kubectl_diff(team, rendered)},
        ROUNDS,
    )
    show(capsys, f"{CAMPAIGNS} unchanged campaigns", seconds, KUBECTL)
    status = (BIN / "campaigns", "status", team.repo, "--kubeconfig", team.kubeconfig)
    shown = medians(
        {
            STATUS: command(*status),
            GET_JOBS: command(*kubectl(team), "get", "jobs", "--output=json"),
        }
    )
    show(capsys, f"{CAMPAIGNS} campaigns", shown, GET_JOBS)
    assert ratio(seconds, [DIFF], KUBECTL) <= 0.1
    assert ratio(shown, [STATUS], GET_JOBS) <= 1.0
