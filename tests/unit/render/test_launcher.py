"""launcher.sh, run by real shells on the ConfigMap that is rendered."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from unit.render.samples import SETTINGS
from unit.render.shells import PRINT_ENVIRONMENT, SHELLS, SOURCES, Ran, run_script

from converter.model import SourceKind, Volume
from converter.volumes import volumes_data

HOSTILE = [
    "plain",
    "",
    " ",
    "  two  blanks  ",
    "'single' \"double\" `id` $(id) ${HOME} $HOME $$ $1 \\n \\",
    "a\ttab\tand = sign",
    "$(touch escaped)",
    "two\nlines",
    "\nstarts and ends\n",
    "\n\n",
    "ends in a blank \nand a tab\t",
    "7\tPATH\tnot a new variable",
    "carriage\rreturn",
    "*? [a-z] ~ ! # & ; | < >",
    "-n",
    "ünïcode \N{GREEK SMALL LETTER OMEGA} \u2028 \x85",
]

pytestmark = pytest.mark.parametrize("shell", SHELLS)


def _launch(
    shell: tuple[str, ...],
    root: Path,
    volumes: Sequence[Volume],
    index: int,
    *command: str,
    **environment: str,
) -> Ran:
    directory = root / "campaign"
    directory.mkdir()
    (root / "dev").mkdir()
    for key, text in volumes_data(volumes, SETTINGS).items():
        (directory / key).write_bytes(text.encode())
    environment["JOB_COMPLETION_INDEX"] = str(index)
    arguments = command or PRINT_ENVIRONMENT
    return run_script(shell, "launcher", root, *arguments, environment=environment)


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_value_arrives_as_it_was_written(
    shell: tuple[str, ...], value: str, tmp_path: Path
) -> None:
    volume = Volume("a", SourceKind.REFERENCE, env={"BEFORE": "1", "VALUE": value, "Z": "26"})
    others = Volume("b", SourceKind.REFERENCE, env={"VALUE": "of another"})
    ran = _launch(shell, tmp_path, [others, volume, others], 1)
    assert (ran.code, ran.errors) == (0, "")
    found = {name: ran.environment.get(name) for name in ("BEFORE", "VALUE", "Z")}
    assert found == {"BEFORE": "1", "VALUE": value, "Z": "26"}
    assert not Path("escaped").exists()


@pytest.mark.parametrize("value", [v for v in HOSTILE if v.strip() and "\n" not in v], ids=repr)
def test_a_source_arrives_as_it_was_written(
    shell: tuple[str, ...], value: str, tmp_path: Path
) -> None:
    ran = _launch(shell, tmp_path, [Volume("a", SourceKind.SOURCE, source=value)], 0)
    assert ran.environment["VOLUME_SOURCE"] == value
    assert "IMAGES" not in ran.environment
    assert "IIIF_MANIFEST_URL" not in ran.environment


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_the_command_s_arguments_are_its_own(
    shell: tuple[str, ...], value: str, tmp_path: Path
) -> None:
    volumes = [Volume("a", SourceKind.REFERENCE)]
    ran = _launch(shell, tmp_path, volumes, 0, "printf", "%s|", "first", value, "last")
    assert ran.output.decode() == f"first|{value}|last|"


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        *SOURCES,
        (Volume("A.1_x-Y", SourceKind.SOURCE, source="s3://b/k"), {"VOLUME_SOURCE": "s3://b/k"}),
    ],
    ids=lambda value: str(value.kind) if isinstance(value, Volume) else "",
)
def test_each_kind_of_source(
    shell: tuple[str, ...], volume: Volume, expected: dict[str, str], tmp_path: Path
) -> None:
    ran = _launch(shell, tmp_path, [volume], 0, IMAGES="old", IIIF_MANIFEST_URL="old")
    names = ("VOLUME_ID", "VOLUME_REF", "VOLUME_SOURCE", "IMAGES", "IIIF_MANIFEST_URL")
    found = {name: ran.environment[name] for name in names if name in ran.environment}
    assert found == {"VOLUME_ID": "A.1_x-Y", "VOLUME_REF": "A.1_x-Y", **expected}


@pytest.mark.parametrize("index", [0, 1, 9, 10, 11])
def test_the_line_is_that_of_the_index(shell: tuple[str, ...], index: int, tmp_path: Path) -> None:
    volumes = [
        Volume(f"v{number}", SourceKind.REFERENCE, env={"N": f"{number}"}) for number in range(12)
    ]
    ran = _launch(shell, tmp_path, volumes, index)
    assert (ran.environment["VOLUME_ID"], ran.environment["N"]) == (f"v{index}", f"{index}")


def test_the_last_line_needs_no_newline(shell: tuple[str, ...], tmp_path: Path) -> None:
    directory = tmp_path / "campaign"
    directory.mkdir()
    (directory / "volumes.txt").write_text("a\tx\nb\ty")
    environment = {"JOB_COMPLETION_INDEX": "1"}
    ran = run_script(shell, "launcher", tmp_path, *PRINT_ENVIRONMENT, environment=environment)
    assert ran.environment["VOLUME_ID"] == "b"


@pytest.mark.parametrize("index", [2, 100])
def test_an_index_without_a_volume_fails_for_good(
    shell: tuple[str, ...], index: int, tmp_path: Path
) -> None:
    volumes = [Volume("a", SourceKind.REFERENCE), Volume("b", SourceKind.REFERENCE)]
    ran = _launch(shell, tmp_path, volumes, index)
    message = f"launcher: no volume for index {index} in {tmp_path}/campaign/volumes.txt\n"
    assert (ran.code, ran.output, ran.errors) == (13, b"", message)
    assert (tmp_path / "dev" / "termination-log").read_text() == message


def test_it_fails_for_good_without_a_termination_log(
    shell: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "campaign").mkdir()
    (tmp_path / "campaign" / "volumes.txt").write_text("")
    ran = run_script(shell, "launcher", tmp_path, "true", environment={"JOB_COMPLETION_INDEX": "0"})
    assert ran.code == 13
    assert ran.errors.startswith("launcher: no volume for index 0")


@pytest.mark.parametrize("code", [0, 1, 13, 42])
def test_the_exit_code_is_the_command_s(shell: tuple[str, ...], code: int, tmp_path: Path) -> None:
    volumes = [Volume("a", SourceKind.REFERENCE)]
    assert _launch(shell, tmp_path, volumes, 0, "sh", "-c", f"exit {code}").code == code


def test_nothing_of_its_own_is_left_behind(shell: tuple[str, ...], tmp_path: Path) -> None:
    volume = Volume("a", SourceKind.REFERENCE, env={"X": "1\n2"})
    ran = _launch(shell, tmp_path, [volume], 0)
    assert [name for name in ran.environment if name.startswith("_campaigns")] == []
