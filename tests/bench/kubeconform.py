"""kubeconform, built once a machine, and the schemas that it reads, with no network."""

from __future__ import annotations

import json
import platform
import subprocess
from pathlib import Path
from typing import Any, Final

from localcluster.build import FLAGS, cache_key
from localcluster.golang import environment, find_go, required_version
from localcluster.lock import held, whole
from localcluster.paths import cache_dir
from localcluster.progress import Progress

_MODULE: Final = Path(__file__).parent / "modules/kubeconform"
_SCHEMA: Final = Path(__file__).parents[2] / "schemas/kubernetes.schema.json"
_KINDS: Final = ("Job", "ConfigMap")


def build() -> Path:
    """The command, from the cache or built into it."""
    go_mod, go_sum = ((_MODULE / name).read_text() for name in ("go.mod", "go.sum"))
    cache, progress = cache_dir(), Progress()
    target = cache / f"kubeconform-{cache_key(go_mod, go_sum, '', platform.machine())}"
    with held(cache / ".kubeconform.lock", "a build of kubeconform", progress):
        if not target.exists():
            go = find_go(required_version([go_mod]), cache, progress)
            with whole(target, "kubeconform") as scratch:
                subprocess.run(
                    [go, "build", *FLAGS, f"-o={scratch}/", "tool"],
                    cwd=_MODULE,
                    env=environment(),
                    check=True,
                )
    return target / "kubeconform"


def write_schemas(directory: Path) -> str:
    """A schema a kind, as kubeconform looks for them; the -schema-location to give it."""
    document: dict[str, Any] = json.loads(_SCHEMA.read_text("utf-8"))
    for kind in _KINDS:
        alone = {
            "$schema": document["$schema"],
            "$defs": document["$defs"],
            "$ref": f"#/$defs/{kind}",
        }
        (directory / f"{kind.lower()}.json").write_text(json.dumps(alone))
    return f"{directory}/{{{{.ResourceKind}}}}.json"
