"""How long `campaigns validate` takes, beside what one would have without it.

``make bench`` runs it. All figures of a table are medians of rounds in which each command ran once.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from bench import kubeconform, repositories
from bench.side_by_side import Timed, command, medians, ratio, show
from unit.cli.hook_site import HookSite, git, publish

BIN: Final = Path(sys.executable).parent
VALIDATE: Final = "campaigns validate"
NO_CACHE: Final = "campaigns validate --no-cache"
IMPORTS: Final = "import click, yaml, jsonschema"
CHECK: Final = "check-jsonschema"
SCHEMAS: Final = Path(__file__).parents[2] / "schemas"

FEW: Final = 20
MANY: Final = 1_000
VOLUMES: Final = 200
# Of what takes a minute each time.
FEW_ROUNDS: Final = 3

NO_OP: Final = """\
  - repo: local
    hooks:
      - id: no-op
        name: no-op
        entry: "true"
        language: system
        pass_filenames: false
        always_run: true
"""


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repositories.write(tmp_path_factory.mktemp("many"), MANY, VOLUMES)


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return repositories.write(tmp_path_factory.mktemp("few"), FEW, VOLUMES)


def validate(root: Path, *options: str) -> Timed:
    return command(BIN / "campaigns", "validate", root, *options)


def check_jsonschema(root: Path) -> Timed:
    """The campaigns alone; pipelines and converter.yaml would take a run each."""
    files = sorted((root / "campaigns").iterdir())
    schema = SCHEMAS / "campaign.schema.json"
    return command(BIN / "check-jsonschema", "--schemafile", schema, *files)


def test_few_campaigns(few: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = medians(
        {
            IMPORTS: command(sys.executable, "-c", IMPORTS),
            VALIDATE: validate(few),
            NO_CACHE: validate(few, "--no-cache"),
            CHECK: check_jsonschema(few),
        }
    )
    show(capsys, f"{FEW} campaigns of {VOLUMES} volumes", seconds, IMPORTS)
    assert ratio(seconds, [VALIDATE], IMPORTS) <= 1.6
    assert ratio(seconds, [NO_CACHE], CHECK) < 1


def test_many_campaigns(many: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rendered, schemas = tmp_path / "rendered", tmp_path / "schemas"
    schemas.mkdir()
    subprocess.run([BIN / "campaigns", "render", many, "--out", rendered], check=True)
    options = ("-strict", "-schema-location", kubeconform.write_schemas(schemas))
    seconds = medians(
        {
            NO_CACHE: validate(many, "--no-cache"),
            "kubeconform": command(kubeconform.build(), *options, rendered),
            CHECK: check_jsonschema(many),
        },
        FEW_ROUNDS,
    )
    show(capsys, f"{MANY:,} campaigns of {VOLUMES} volumes", seconds, NO_CACHE)
    assert ratio(seconds, ["kubeconform", CHECK], NO_CACHE) > 1


def test_one_changed_campaign_of_many(
    few: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The time of the hook itself: that of pre-commit is what a hook takes that does nothing."""
    source = tmp_path / "source"
    source.mkdir()
    site = HookSite(repositories.write(tmp_path / "site", MANY, VOLUMES), tmp_path / "pre-commit")
    site.create(source, publish(source), files={}, more=NO_OP)
    site.install()
    changes = itertools.count(1)

    def change() -> None:
        number, changed = next(changes), MANY // 2
        paused = f"suspend: {'true' if number % 2 else 'false'} # for the {number}th time\n"
        text = paused + repositories.campaign(changed, VOLUMES)
        repositories.path(site.root, changed).write_text(text)
        git(site.root, "add", "--all")

    def hook(name: str) -> Timed:
        return Timed(lambda: site.pre_commit("run", name).check_returncode(), before=change)

    seconds = medians(
        {
            VALIDATE: validate(few),
            "pre-commit, no-op": hook("no-op"),
            "pre-commit, campaigns-validate": hook("campaigns-validate"),
        }
    )
    own = "the hook itself"
    seconds[own] = seconds["pre-commit, campaigns-validate"] - seconds["pre-commit, no-op"]
    title = f"one changed campaign of {MANY:,} of {VOLUMES} volumes; {VALIDATE} is of {FEW}"
    show(capsys, title, seconds, VALIDATE)
    assert ratio(seconds, [own], VALIDATE) < 2
