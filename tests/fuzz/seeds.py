"""Documents to begin with: whole repositories, each with the file that is to be mutated."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from unit.corpus.cases import BAD, GOOD, cases

from converter.checks import ALL_RULES

CHECKOUT: Final = Path(__file__).parents[2]
GOLDEN: Final = CHECKOUT / "tests/unit/render/golden"

SETTINGS: Final = "namespace: team\nqueue: batch\ncommand: [python, -m, ocr]\n"
PIPELINE: Final = f"image: registry.example.com/ocr@sha256:{'0' * 64}\n"
CAMPAIGN: Final = "pipeline: ocr\nvolumes:\n  - A0001\n  - A0002\n"
VALID: Final[Mapping[str, bytes]] = {
    "converter.yaml": SETTINGS.encode(),
    "pipelines/ocr.yaml": PIPELINE.encode(),
    "campaigns/letters.yaml": CAMPAIGN.encode(),
}
_HEADING: Final = re.compile(r"^# (\S+\.yaml)\n", re.MULTILINE)
# Past this a document says nothing that a part of it does not, and takes longer.
_LONGEST: Final = 20_000

# What YAML can do that no campaigns repository needs.
_UNUSUAL: Final = (
    "defaults: &a {pipeline: ocr, volumes: [x]}\n<<: *a\nwindow: 3\n",
    "pipeline: &p ocr\nvolumes:\n  - {id: *p, source: 's:1'}\n  - &v a1\n  - *v\n",
    "---\npipeline: !!str ocr\nvolumes: !!seq [a, !!int 1, ! b]\n...\n",
    "--- # one\npipeline: ocr\n--- # two\nvolumes: [a]\n",
    "%YAML 1.2\n%TAG !e! tag:example.com,2000:\n---\npipeline: !e!x ocr\n",
    "? pipeline\n: ocr\n? [a, b]\n: volumes\n? {c: d}\n: - e\n",
    "pipeline: |+2\n    ocr\n\nvolumes: >-\n  a\n  b\n",
    'pipeline: "o\\x63r"\nvolumes: ["\\u00e9", \'it\'\'s\', "a\\\n  b", "\\ud83d\\ude00"]\n',
    "pipeline: ocr\r\nvolumes:\r\n- a\r- b\u2028- c\u0085- d\n",
    "\ufeffpipeline: ocr\nvolumes: [0012, 1:20, 1.10, yes, 2024-01-01, .nan, 1e5, 0x1F, null]\n",
    "pipeline: ocr\nvolumes: [a]\npipeline: other\nvolumes: [b]\n",
    "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: [*c, *c, *c, *c]\n",
    "[" * 70 + "]" * 70 + "\n",
    "pipeline: ocr\nvolumes:\n- {id: a, images: [https://example.com/1.jpg, 'http://h/%20']}\n",
    "volumes: [{id: a, source: s, manifest: https://u:p@example.com/m?token=t}]\n",
)


@dataclass(frozen=True)
class Seed:
    """A repository, by path, and the path of the file in it that is to be mutated."""

    files: Mapping[str, bytes]
    path: str

    @property
    def document(self) -> bytes:
        """The file that is to be mutated."""
        return self.files[self.path]


def seeds() -> list[Seed]:
    """Every document of the samples, in an order that is the same on every machine."""
    found = {(seed.path, seed.document): seed for seed in _all()}
    return [found[key] for key in sorted(found) if len(found[key].document) <= _LONGEST]


def _all() -> Iterator[Seed]:
    yield from _each_file(VALID)
    yield from _each_file(_repository(CHECKOUT / "campaigns/demo"))
    for rule in ALL_RULES.values():
        for snippet in (rule.wrong, rule.right):
            yield from _each_file({**VALID, **_sections(snippet)})
    for text in _UNUSUAL:
        for path in VALID:
            yield Seed({**VALID, path: text.encode()}, path)
    for case in (*cases(BAD), *cases(GOOD)):
        if case.source.is_file():
            yield Seed({**VALID, case.at: case.source.read_bytes()}, case.at)
    for golden in sorted(GOLDEN.glob("*.yaml")):
        yield Seed({**VALID, "pipelines/ocr.yaml": golden.read_bytes()}, "pipelines/ocr.yaml")


def _each_file(files: Mapping[str, bytes]) -> Iterator[Seed]:
    for path in files:
        yield Seed(files, path)


def _repository(directory: Path) -> dict[str, bytes]:
    paths = [directory / "converter.yaml"]
    paths += sorted((*directory.glob("pipelines/*.yaml"), *directory.glob("campaigns/*.yaml")))
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in paths}


def _sections(snippet: str) -> dict[str, bytes]:
    """The files of a rule's example; some rules' examples are a listing and no file."""
    _, *sections = _HEADING.split(snippet)
    return {path: text.encode() for path, text in zip(sections[::2], sections[1::2], strict=True)}
