"""Rendered objects as YAML: the files of a directory, or one stream for ``kubectl``."""

from collections.abc import Iterable

from converter.manifest import Manifest, Role
from converter.render.text import yaml_text


def rendered_files(manifests: Iterable[Manifest]) -> dict[str, str]:
    """The text of each file by its path, which has forward slashes.

    ``pipelines/<id>.yaml`` has the objects of a pipeline, ``campaigns/<job>.yaml`` those of one
    part of a campaign, in the order in which to create them.
    """
    files: dict[str, list[Manifest]] = {}
    pending: list[Manifest] = []
    for manifest in manifests:
        if not manifest.campaign:
            files.setdefault(f"pipelines/{manifest.pipeline}.yaml", []).append(manifest)
            continue
        # The Job closes its part, and has the part's name.
        pending.append(manifest)
        if manifest.role is Role.CAMPAIGN:
            files[f"campaigns/{manifest.name}.yaml"] = pending
            pending = []
    return {path: yaml_stream(members) for path, members in files.items()}


def yaml_stream(manifests: Iterable[Manifest]) -> str:
    """The objects as one stream of YAML documents."""
    return "---\n".join(yaml_text(manifest.body) for manifest in manifests)
