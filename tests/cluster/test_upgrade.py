"""A newer release of the tool renders pods differently, while campaigns of the former one run."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cluster.team import SLOW, Done, Team, eventually
from localcluster import AuditEvent

import converter

JOB_TEMPLATE = "manifests/campaign-job.yaml.j2"
POD_LABELS = "      labels: {{ pod_labels }}\n"
MAIN = "        - name: main\n"


@pytest.fixture
def newer(tmp_path: Path) -> Path:
    """The directory of a release whose pods have another label and another container setting."""
    release = tmp_path / "newer"
    package = release / "converter"
    shutil.copytree(Path(converter.__file__).parent, package)
    shutil.copytree(Path(converter.__file__).parents[1] / "schemas", release / "schemas")
    template = package / JOB_TEMPLATE
    text = template.read_text()
    assert text.count(POD_LABELS) == text.count(MAIN) == 1
    text = text.replace(POD_LABELS, f"{POD_LABELS}      annotations: {{release: newer}}\n")
    text = text.replace(MAIN, f"{MAIN}          workingDir: /\n")
    template.write_text(text)
    return release


def apply_of(release: Path, team: Team, code: int = 0) -> Done:
    """`campaigns apply` of another release, whose package is found before the installed one."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(team.repo.parent),
        "KUBECONFIG": str(team.kubeconfig),
        "PYTHONPATH": str(release),
    }
    command = [sys.executable, "-m", "converter", "apply", "."]
    ran = subprocess.run(
        command, cwd=team.repo, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return Done(ran.returncode, ran.stdout, ran.stderr)


def writes(team: Team, since: int) -> list[AuditEvent]:
    """Also dry runs, but not the Lease's."""
    return [e for e in team.requests(since) if e.is_write and e.resource != "leases"]


def template_of(team: Team, job: str) -> object:
    return team.job(job)["spec"]["template"]


def test_what_runs_is_up_to_date_for_a_newer_release(team: Team, newer: Path) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("old", 2)
    team.write_campaign("paused", suspend=True)
    team.apply()
    eventually(lambda: team.job_status("old").get("active") == 2, "both pods")
    pods = {pod["metadata"]["uid"] for pod in team.pods("old")}
    mark = team.cluster.audit_mark()
    done = apply_of(newer, team)
    assert "0 applied, 2 unchanged, 0 held back, 0 refused" in done.stdout
    assert writes(team, mark) == []

    team.write_campaign("new")
    done = apply_of(newer, team)
    assert "1 applied, 2 unchanged" in done.stdout
    template = team.job("new")["spec"]["template"]
    assert template["metadata"]["annotations"]["release"] == "newer"
    assert {pod["metadata"]["uid"] for pod in team.pods("old")} == pods

    team.write_campaign("old", 2, suspend=True)
    team.write_campaign("paused")
    done = apply_of(newer, team)
    assert "1 paused, 1 resumed" in done.stdout
    eventually(lambda: team.status()["old"]["phase"] == "Paused", "the pause")
    eventually(lambda: team.admitted("paused"), "the resume")


def test_changed_inputs_are_held_back_by_a_newer_release_too(team: Team, newer: Path) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("old")
    team.apply()
    eventually(lambda: team.job_status("old").get("active"), "a pod")
    mark = team.cluster.audit_mark()
    sizes = {"s": {"cpu": "50m", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}}
    team.write_settings(sizes=sizes)
    done = apply_of(newer, team, code=3)
    assert "held back: campaign old" in done.stderr
    assert [e for e in writes(team, mark) if e.name != "pipeline-work"] == []


def test_what_has_ended_is_not_run_again_by_a_newer_release(team: Team, newer: Path) -> None:
    team.write_pipeline()
    team.write_campaign("live")
    team.write_campaign("reaped")
    team.apply()
    eventually(lambda: team.ended("live", "reaped"), "both ends")
    team.apply()
    team.kubectl("delete", "job", "reaped")
    mark = team.cluster.audit_mark()
    for _ in range(2):
        done = apply_of(newer, team)
        assert "2 finished" in done.stdout
    assert writes(team, mark) == []
    assert team.get("job", "reaped") is None
    assert team.pods_created(mark) == []
