"""Loaded repositories, built from values; a position tells which path a rule asked it for."""

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from converter.checks import check
from converter.load.result import LoadResult
from converter.model import Campaign, Flavor, Pipeline, Settings, Size, SourceKind, Volume

DIGEST = "registry.example/ocr@sha256:" + "0" * 64

# Path, position, message, remedy.
Found = tuple[str, tuple[int, int], str, str]


class Places:
    """`Positions` whose line stands for the path, and whose column says value (1) or key (2)."""

    def value(self, *path: str | int) -> tuple[int, int]:
        return (1 + zlib.crc32(repr(path).encode()), 1)

    def key(self, *path: str | int) -> tuple[int, int]:
        return (1 + zlib.crc32(repr(path).encode()), 2)


at = Places().value
at_key = Places().key
WHOLE_FILE = (0, 0)


def some_settings(**changes: Any) -> Settings:
    return Settings(
        **{"namespace": "campaigns", "queue": "campaigns", "command": ("ocr",), **changes}
    )


def some_pipeline(id: str = "ocr", **changes: Any) -> Pipeline:
    return Pipeline(**{"id": id, "path": f"pipelines/{id}.yaml", "image": DIGEST, **changes})


def some_campaign(
    name: str = "letters", volumes: Iterable[str | Volume] = ("a",), **changes: Any
) -> Campaign:
    listed = tuple(
        Volume(each, SourceKind.REFERENCE, each) if isinstance(each, str) else each
        for each in volumes
    )
    path = f"campaigns/{name}.yaml"
    return Campaign(**{"name": name, "path": path, "pipeline": "ocr", "volumes": listed, **changes})


def sizes(*listed: Size) -> dict[str, Size]:
    return {size.name: size for size in listed}


def flavor(name: str, labels: dict[str, str], **changes: Any) -> Flavor:
    return Flavor(**{"name": name, "node_labels": labels, **changes})


def loaded(
    *files: Campaign | Pipeline,
    settings: Settings | None = None,
    broken: Iterable[str] = (),
) -> LoadResult:
    """The files, with some_pipeline() beside them unless there is another pipeline."""
    pipelines = {file.id: file for file in files if isinstance(file, Pipeline)}
    campaigns = {file.name: file for file in files if isinstance(file, Campaign)}
    pipelines = pipelines or {"ocr": some_pipeline()}
    paths = ["converter.yaml", *(pipeline.path for pipeline in pipelines.values())]
    paths += [campaign.path for campaign in campaigns.values()]
    return LoadResult(
        root=Path(),
        settings=settings,
        pipelines=pipelines,
        campaigns=campaigns,
        broken=frozenset(broken),
        positions=dict.fromkeys(paths, Places()),
    )


def found(code: str, *files: Campaign | Pipeline, **settings: Any) -> list[Found]:
    """What one rule finds in the files, beside some_settings() with these changes."""
    return found_in(code, loaded(*files, settings=some_settings(**settings)))


def found_in(code: str, result: LoadResult) -> list[Found]:
    return [
        (problem.path, (problem.line, problem.column), problem.message, problem.remedy)
        for problem in check(result)
        if problem.code == code
    ]
