"""The Stages of the fake nodes."""

from __future__ import annotations

import json
from pathlib import Path

from localcluster.build import Built
from localcluster.kwok import stages

RELEASED = {
    "durationMilliseconds": 1000,
    "jitterDurationFrom": {"expressionFrom": ".metadata.deletionTimestamp"},
}


def test_a_pod_that_is_deleted_does_not_take_its_whole_grace_period(tmp_path: Path) -> None:
    general = tmp_path / "kustomize/stage/pod/general"
    general.mkdir(parents=True)
    for name in ("pod-complete", "pod-delete"):
        stage = {"metadata": {"name": name}, "spec": {"weight": 1, "delay": RELEASED}}
        (general / f"{name}.yaml").write_text(json.dumps(stage))
    complete, delete = (stage["spec"] for stage in stages(Built("kwok", "v0", tmp_path)))
    assert complete == {"weight": 1, "delay": RELEASED}
    quick = {"durationMilliseconds": 500, "jitterDurationMilliseconds": 2000}
    assert delete == {"weight": 1, "delay": quick}
