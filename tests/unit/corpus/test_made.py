"""Cases that no small file can hold: large, deep, and what is no file at all."""

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from unit.corpus.cases import BASE, CAMPAIGN, places, problems, write_base

from converter.split import NAME_LENGTH

# The bounds that `campaigns validate` has for whatever a repository holds: bytes, and seconds that
# are generous, since they only tell apart what ends and what does not.
MEMORY = 500 * 1024**2
PATIENCE = 20

HEAD = "pipeline: ocr\nwindow: 1\n"
LONG_NAME = "correspondence-of-the-board-of-trade-with-the-ports-"
LAUGHS = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 30)
)
MERGED_LAUGHS = "m0: &m0 {k: x}\n" + "".join(
    f"m{n}: &m{n} {{a: *m{n - 1}, b: *m{n - 1}}}\n" for n in range(1, 60)
)

Make = Callable[[Path], object]


def volumes(letter: str, count: int) -> str:
    return HEAD + "volumes:\n" + "".join(f"- {letter}{number}\n" for number in range(count))


def with_volume(source: str) -> str:
    return f"{HEAD}volumes:\n  - id: A0001\n    {source}\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [("a", "b"), ("a-2", "b-2")],
)
def test_the_parts_of_two_campaigns_share_a_name(first: str, second: str, tmp_path: Path) -> None:
    write_base(tmp_path)
    for letter, ending in (("b", first), ("c", second)):
        text = volumes(letter, 10_001)
        (tmp_path / f"campaigns/{LONG_NAME}{ending}.yaml").write_text(text)
    found = problems(tmp_path)
    assert places(found) == [(f"campaigns/{LONG_NAME}{second}.yaml", 0, 0, "C004")]
    assert f"rename the file so that the first {NAME_LENGTH}" in str(found[0])


PIPELINE = (BASE / "pipelines/ocr.yaml").read_text()
SETTINGS = (BASE / "converter.yaml").read_text()
LONG_WORD = "y" * 103_000
TOO_LONG = {
    "C009-images": (
        CAMPAIGN,
        with_volume(
            "images: ["
            + ", ".join(f"https://a.example/{'x' * 300}/{page}.jpg" for page in range(330))
            + "]"
        ),
        (4, 5),
        "name a manifest",
    ),
    "C009-env": (
        CAMPAIGN,
        with_volume(f"source: a\n    env: {{TEXT: {LONG_WORD}}}"),
        (4, 5),
        "100 KiB",
    ),
    "P010-args": (
        "pipelines/ocr.yaml",
        f"{PIPELINE}args: [{LONG_WORD}]\n",
        (3, 8),
        "one argument or variable",
    ),
    "P010-settings-env": (
        "converter.yaml",
        f"{SETTINGS}env: {{TEXT: {LONG_WORD}}}\n",
        (SETTINGS.count("\n") + 1, 13),
        "one argument or variable",
    ),
}


@pytest.mark.parametrize("name", TOO_LONG)
def test_what_is_too_long_for_an_environment(name: str, tmp_path: Path) -> None:
    path, text, place, says = TOO_LONG[name]
    write_base(tmp_path)
    (tmp_path / path).write_text(text)
    found = problems(tmp_path)
    assert places(found) == [(path, *place, name.partition("-")[0])]
    assert says in str(found[0])


def text(content: str) -> Make:
    return lambda path: path.write_text(content)


def sparse(size: int) -> Make:
    """A file of so many zero bytes that takes no room on the disk."""

    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def link(target: str) -> Make:
    return lambda path: path.symlink_to(target)


HOSTILE: dict[str, tuple[Make, str]] = {
    "100 MB": (sparse(100 * 1024**2), "0:0: F001 larger than 32 MiB — split it into several"),
    "32 MiB of zeros": (sparse(32 * 1024**2), "1:1: F001 a NUL character — save the file as UTF-8"),
    "20 MB of text": (
        text(HEAD + "volumes: '" + "x" * 20_000_000 + "'\n"),
        '3:10: F005 volumes is the text "xxx',
    ),
    "100,000 lists in each other": (text("volumes: " + "[" * 100_000), "F002 not YAML: "),
    "100,000 mappings in each other": (
        text("{a: " * 100_000),
        "1:254: F002 more than 64 levels of nesting",
    ),
    "100,000 dashes": (text("- " * 100_000 + "a\n"), "F002 more than 64 levels of nesting — "),
    "5,000 levels of indentation": (
        text("".join(" " * n + "a:\n" for n in range(5_000))),
        "64:64: F002 more than 64 levels of nesting — ",
    ),
    "billion laughs": (text(LAUGHS), "F002 more than 2,000,000 values, with aliases expanded — "),
    "billion laughs in mappings": (text(MERGED_LAUGHS), "F002 more than 2,000,000 values, with"),
    "a number of a million digits": (
        text(f"{HEAD}volumes: [{'9' * 1_000_000}]\n"),
        "3:11: F007 volumes, entry 1: YAML reads 999",
    ),
    "FIFO": (os.mkfifo, "0:0: F001 not a regular file — put a file in its place"),
    "directory": (Path.mkdir, "0:0: F001 a directory — put a file in its place"),
    "link to itself": (link("spring.yaml"), "0:0: F001 cannot be read: "),
    "link to nothing": (link("nothing.yaml"), "0:0: F001 cannot be read: No such file"),
    "link out of the repository": (
        link("/etc/passwd"),
        "0:0: F001 a symbolic link that leaves the repository — copy the file",
    ),
    "link to a device": (
        link("/dev/zero"),
        "0:0: F001 a symbolic link that leaves the repository — copy the file",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_whatever_a_file_is_the_answer_is_one_line(name: str, tmp_path: Path) -> None:
    make, expected = HOSTILE[name]
    write_base(tmp_path)
    (tmp_path / CAMPAIGN).unlink()
    make(tmp_path / CAMPAIGN)
    answer = validated(tmp_path)
    line, summary = answer.stdout.splitlines()
    assert line.startswith(f"{tmp_path.name}/{CAMPAIGN}:")
    assert expected in line
    assert "1 error" in summary
    assert (answer.returncode, answer.stderr) == (1, "")


def test_a_directory_may_be_a_link_to_itself(tmp_path: Path) -> None:
    write_base(tmp_path)
    (tmp_path / CAMPAIGN).unlink()
    (tmp_path / "campaigns").rmdir()
    (tmp_path / "campaigns").symlink_to("campaigns")
    line, _ = validated(tmp_path).stdout.splitlines()
    assert line.startswith(f"{tmp_path.name}/campaigns:0:0: F001 cannot be read: ")


def test_a_repository_may_contain_itself(tmp_path: Path) -> None:
    write_base(tmp_path)
    (tmp_path / "campaigns" / "again").symlink_to("..")
    line, _ = validated(tmp_path).stdout.splitlines()
    assert f"{tmp_path.name}/campaigns/again:0:0: F008 a directory in campaigns/" in line


def validated(root: Path) -> subprocess.CompletedProcess[str]:
    """What the command says about a repository within the bounds."""
    return subprocess.run(
        [sys.executable, "-m", "converter", "validate", root.name],
        cwd=root.parent,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
