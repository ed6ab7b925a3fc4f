"""docs/pods.md says of a pod what is rendered."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from unit.render.samples import FULL_CAMPAIGN, FULL_PIPELINE, SIZED, repository

from converter.manifest import Role
from converter.model import Warmup
from converter.render import render

DOCUMENT = Path(__file__).parents[3] / "docs" / "pods.md"
CODE = re.compile(r"`([^`]+)`")
# Set by the launcher from the volume's line, or by Kubernetes.
NOT_IN_THE_JOB = {
    "VOLUME_ID",
    "VOLUME_REF",
    "VOLUME_SOURCE",
    "IIIF_MANIFEST_URL",
    "IMAGES",
    "JOB_COMPLETION_INDEX",
}


def _first_cells() -> set[str]:
    rows = (line for line in DOCUMENT.read_text().splitlines() if line.startswith("| `"))
    return {code for row in rows for code in CODE.findall(row.split("|")[1])}


def test_every_variable_and_path_is_in_the_document_and_the_other_way_round() -> None:
    settings = replace(SIZED, warmup=Warmup(("warm",)), env={}, secrets={})
    pipeline = replace(FULL_PIPELINE, env={})
    manifests = render(repository(settings, pipeline, FULL_CAMPAIGN))
    job = next(manifest.body for manifest in manifests if manifest.role is Role.CAMPAIGN)
    container = job["spec"]["template"]["spec"]["containers"][0]
    variables = {entry["name"] for entry in container["env"]} | NOT_IN_THE_JOB
    paths = {mount["mountPath"] for mount in container["volumeMounts"]}
    files = {"/config": "/config/pipeline.yaml", "/campaign": "/campaign/volumes.txt"}
    documented = _first_cells() - {"secrets", "env"}
    assert documented == variables | {files.get(path, path) for path in paths}
