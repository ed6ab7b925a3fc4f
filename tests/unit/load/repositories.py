"""Repositories on disk for the loader's tests."""

from pathlib import Path
from typing import Any

import yaml

from converter.load import LoadResult, load_repo

SETTINGS = "namespace: team\nqueue: campaigns\n"
PIPELINE = "image: registry.example.org/ocr:1\n"
CAMPAIGN = "pipeline: ocr\nvolumes: [A0001]\n"


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for path, content in files.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def load(root: Path, **files: str | bytes) -> LoadResult:
    """A repository of the named kinds of file; `settings` that are not given are valid."""
    paths = {
        "settings": "converter.yaml",
        "campaign": "campaigns/spring.yaml",
        "pipeline": "pipelines/ocr.yaml",
    }
    given = {"settings": SETTINGS, **files}
    return load_repo(write(root, {paths[kind]: content for kind, content in given.items()}))


def lines(result: LoadResult) -> list[str]:
    """The problems without the paths of their files."""
    return [str(problem).split(":", 1)[1] for problem in result.problems]


class _Quoting(yaml.SafeDumper):
    """Quotes all text: PyYAML itself leaves ``y`` and ``0E0`` bare."""


_Quoting.add_representer(
    str, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')
)


def dump(values: Any, *, flow: bool | None = False, unicode: bool = True) -> str:
    """The values as YAML that no reader misreads."""
    return yaml.dump(
        values, Dumper=_Quoting, default_flow_style=flow, allow_unicode=unicode, sort_keys=False
    )
