"""Warm-ups and the gate that waits for them, on real pods with a real volume between them.

The namespace enforces Pod Security "restricted", which forbids hostPath in a pod. The volume is a
claim on a `local` PersistentVolume of the real node, so that the test sees what the pods see.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster.team import IMAGE, SLOW, Object, Team, condition, eventually
from localcluster import ClusterError

WARMUP = "warmup-work"
CLAIM = "models"
# A main container that cannot write to the cache, and prints what a warm-up left there.
READ = "! touch /data/mine 2>/dev/null; cat /data/model"
FILL = "echo of $PIPELINE_ID >/data/model"
SMALL = {"cpu": "50m", "memory": "32Mi"}


@dataclass(frozen=True)
class Cache:
    """The data volume, as a directory of this machine."""

    team: Team
    directory: Path

    def of_recipes(self) -> list[Path]:
        """What warm-ups fill: a directory for each recipe."""
        return sorted(self.directory.iterdir())

    def put(self, name: str) -> None:
        """A file in each of them."""
        for directory in self.of_recipes():
            (directory / name).touch()


@pytest.fixture
def cache(team: Team, tmp_path: Path) -> Iterator[Cache]:
    directory = tmp_path / CLAIM
    directory.mkdir()
    name = f"{team.namespace}-{CLAIM}"
    node = {"key": "kubernetes.io/hostname", "operator": "In", "values": ["real-1"]}
    common = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            **common,
            "capacity": {"storage": "1Gi"},
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": str(directory)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [node]}]}},
        },
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": CLAIM, "namespace": team.namespace},
        "spec": {
            **common,
            "volumeName": name,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    team.cluster.kubectl.apply([volume, claim])
    team.write_settings(data_pvc=CLAIM)
    yield Cache(team, directory)
    team.cluster.kubectl.run("delete", "persistentvolume", name, "--wait=false")


def write_warm_pipeline(team: Team, warmup: str = FILL, **keys: object) -> None:
    command = ["/bin/sh", "-euc", warmup]
    team.write_pipeline("work", READ, **{"warmup": {"command": command}, **keys})


def fits(team: Team, found: Callable[[], object]) -> Callable[[], object]:
    """`found`, with warm-ups made small: they ask for 2 cpu, which is all that this node has.

    A pod that waits for a node may be resized like one that runs.
    """

    def small_enough() -> object:
        for pod in team.pods(WARMUP):
            (container,) = pod["spec"]["containers"]
            if container["resources"]["requests"] != SMALL and not ended(pod):
                shrink(team, pod)
        return found()

    return small_enough


def shrink(team: Team, pod: Object) -> None:
    resources = {"requests": SMALL, "limits": SMALL}
    patch = {"spec": {"containers": [{"name": "warmup", "resources": resources}]}}
    name = pod["metadata"]["name"]
    try:
        team.kubectl("patch", "pod", name, "--subresource=resize", f"--patch={json.dumps(patch)}")
    except ClusterError as error:
        # It has ended, or is gone, since it was read.
        print(error)


def ended(pod: Object) -> bool:
    return pod["status"].get("phase") in ("Succeeded", "Failed")


def is_running(team: Team) -> Callable[[], object]:
    return fits(team, lambda: team.job_status(WARMUP).get("ready"))


def uid(team: Team) -> str:
    """Of the warm-up's Job: another one is another warm-up."""
    return str(team.job(WARMUP)["metadata"]["uid"])


def phases(team: Team, job: str) -> set[str]:
    return {pod["status"].get("phase", "") for pod in team.pods(job)}


def output(team: Team, job: str) -> set[str]:
    return {team.tenant.logs(pod["metadata"]["name"]) for pod in team.pods(job)}


def test_volumes_wait_for_their_warmup_and_find_what_it_left(team: Team, cache: Cache) -> None:
    write_warm_pipeline(team, f"until [ -e /data/go ]; do sleep 0.2; done; {FILL}")
    team.write_campaign("letters", 2)
    team.apply()
    eventually(is_running(team), "the warm-up runs")
    eventually(lambda: len(team.pods("letters")) == 2, "the campaign's pods")
    first = uid(team)

    # Another warm-up fills another directory, which is not what the live campaign's pods wait for.
    write_warm_pipeline(team, f"true; {FILL}")
    held = team.apply(code=3)
    assert "the settings in converter.yaml changed" in held.stderr
    assert uid(team) == first
    write_warm_pipeline(team, f"until [ -e /data/go ]; do sleep 0.2; done; {FILL}")
    assert "replaced" not in team.apply().stdout
    assert uid(team) == first

    assert phases(team, "letters") == {"Pending"}
    (directory,) = cache.of_recipes()
    assert not (directory / "warmup.done").exists()
    cache.put("go")
    eventually(lambda: team.ended(WARMUP, "letters"), "the end of both")
    assert team.job_status("letters")["completedIndexes"] == "0,1"
    assert output(team, "letters") == {"of work\n"}
    assert sorted(file.name for file in directory.iterdir()) == ["go", "model", "warmup.done"]
    assert "note" not in team.apply().stderr


def test_a_warmup_that_failed_is_made_anew_by_the_next_apply(team: Team, cache: Cache) -> None:
    write_warm_pipeline(team, f"[ -e /data/mended ] || exit 13; {FILL}")
    team.write_campaign("letters")
    team.apply()
    eventually(fits(team, lambda: condition(team.job(WARMUP), "Failed")), "the warm-up's failure")
    first = uid(team)
    assert team.job_status(WARMUP)["failed"] == 1
    cache.put("mended")
    assert f"replaced: Job/{WARMUP}" in team.apply().stdout
    assert uid(team) != first
    eventually(fits(team, lambda: team.ended("letters")), "the campaign's end")
    assert output(team, "letters") == {"of work\n"}


def test_a_stuck_warmup_is_told_of_and_replaced_when_it_is_mended(team: Team, cache: Cache) -> None:
    team.write_settings(data_pvc="not-there")
    write_warm_pipeline(team, image="gitops-campaigns.local/nothing:none")
    team.apply()
    eventually(lambda: team.job_status(WARMUP).get("active"), "a pod without a volume")
    stuck = f"note: Job/{WARMUP} (pipelines/work.yaml): its pod has not started since 20"
    assert stuck in team.apply().stderr

    # No marker is on another claim: campaigns would wait in vain, were the recipe all that counts.
    team.write_settings(data_pvc=CLAIM)
    assert f"replaced: Job/{WARMUP}" in team.apply().stdout
    eventually(fits(team, lambda: _waits_for_image(team)), "a pod without an image")
    assert stuck in team.apply().stderr

    write_warm_pipeline(team, image=IMAGE)
    assert f"replaced: Job/{WARMUP}" in team.apply().stdout
    eventually(fits(team, lambda: condition(team.job(WARMUP), "Complete")), "the warm-up's end")
    assert any((directory / "warmup.done").exists() for directory in cache.of_recipes())


def _waits_for_image(team: Team) -> bool:
    reasons = {
        status.get("state", {}).get("waiting", {}).get("reason")
        for pod in team.pods(WARMUP)
        for status in pod["status"].get("containerStatuses", ())
    }
    return bool(reasons & {"ErrImagePull", "ImagePullBackOff"})


def test_volumes_give_up_when_the_warmup_takes_too_long(team: Team, cache: Cache) -> None:
    team.write_settings(data_pvc=CLAIM, warmup_wait_seconds=1)
    write_warm_pipeline(team, SLOW)
    team.write_campaign("letters", 2)
    team.apply()
    eventually(is_running(team), "the warm-up runs")
    eventually(lambda: team.ended("letters"), "the campaign's end")
    assert team.job_status("letters")["failedIndexes"] == "0,1"
    assert len(team.pods("letters")) == 2, "a volume was tried again"
    for pod in team.pods("letters"):
        (gate,) = pod["status"]["initContainerStatuses"]
        terminated = gate["state"]["terminated"]
        assert terminated["exitCode"] == 13
        assert "see the warm-up Job of pipeline work" in terminated["message"]
    assert team.status()["letters"]["failed"] == 2


def test_a_warmup_that_is_being_deleted_is_waited_for(team: Team, cache: Cache) -> None:
    write_warm_pipeline(team, f"until [ -e /data/go ]; do sleep 0.2; done; {FILL}")
    team.apply()
    eventually(is_running(team), "the warm-up runs")
    first = uid(team)
    set_finalizers(team, ["example.org/slow"])
    team.kubectl("delete", "job", WARMUP, "--wait=false", "--cascade=background")
    mark = team.cluster.audit_mark()
    with team.start("apply", ".") as process:
        _until_waiting(team, mark)
        set_finalizers(team, None)
        stdout, stderr = process.communicate()
    assert process.returncode == 0, stderr
    assert f"replaced: Job/{WARMUP}" in stdout
    assert uid(team) != first


def set_finalizers(team: Team, finalizers: list[str] | None) -> None:
    patch = json.dumps({"metadata": {"finalizers": finalizers}})
    team.kubectl("patch", "job", WARMUP, "--type=merge", f"--patch={patch}")


def _until_waiting(team: Team, mark: int) -> None:
    """Until an apply has asked for the deletion, and sees that it takes time."""

    def asked() -> bool:
        team.cluster.audit_mark()
        return bool(team.requests(mark, verbs=("delete",), resource="jobs"))

    eventually(asked, "a request to delete the warm-up")
