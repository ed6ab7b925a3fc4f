"""The values that `campaigns chart-values` writes are values that the chart takes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from chart.helm import Helm, of_kind
from unit.cli.commands import run

from converter.load import load_repo

SAMPLES = [
    path.parent for path in (Path(__file__).parents[2] / "campaigns").glob("*/queue-values.yaml")
]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.name)
def test_the_chart_takes_what_is_written_of_a_sample(sample: Path, helm: Helm) -> None:
    kept = sample / "queue-values.yaml"
    written = run("chart-values", sample, "--values", kept)
    assert (written.returncode, written.stderr) == (0, "")
    file = helm.home / "written.yaml"
    file.write_text(written.stdout)
    for files in ((kept,), (file,), (kept, file)):
        checks = [each for path in files for each in ("--check", path)]
        done = run("chart-values", sample, *checks)
        assert done.returncode == 0, done.stdout
    objects = helm.template(yaml.safe_load(written.stdout))
    settings = load_repo(sample).settings
    assert settings is not None
    assert list(of_kind(objects, "LocalQueue")) == [settings.queue]
    assert tuple(of_kind(objects, "WorkloadPriorityClass")) == settings.priority_classes
    (queue,) = of_kind(objects, "ClusterQueue").values()
    (group,) = queue["spec"]["resourceGroups"]
    landed = [each["name"] for each in group["flavors"]]
    named = [each.name for each in settings.flavors]
    assert landed == (named or [f"{settings.queue}-flavor"])
    covered = set(group["coveredResources"])
    assert covered >= set(settings.quota)
    assert not settings.quota or covered == set(settings.quota)


def test_without_values_classes_are_those_that_exist(helm: Helm, tmp_path: Path) -> None:
    (tmp_path / "converter.yaml").write_text(
        "namespace: team\nqueue: gpu\nquota: {cpu: 8, memory: 32Gi}\npriority_classes: [urgent]\n"
        "data_pvc: models\nruntime_class: nvidia\nallow_image_tags: true\n"
    )
    written = run("chart-values", tmp_path)
    assert written.returncode == 0, written.stderr
    objects = helm.template(yaml.safe_load(written.stdout), namespace="team")
    assert not of_kind(objects, "WorkloadPriorityClass")
    assert not of_kind(objects, "PersistentVolumeClaim")
    (queue,) = of_kind(objects, "ClusterQueue").values()
    # The chart's default of a GPU is taken away.
    assert queue["spec"]["resourceGroups"][0]["coveredResources"] == ["cpu", "memory"]
