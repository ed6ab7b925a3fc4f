"""`campaigns validate --fix` and `--diff`: mending what is safe to mend, or showing how."""

from collections.abc import Iterable, Iterator, Sequence
from difflib import unified_diff
from pathlib import Path

import click

from converter.cli.problem_formats import Fixed
from converter.errors import Refused
from converter.load.fix import Fix, fixes
from converter.load.wording import one_line
from converter.rewrite import rename, rewrite


def fix(roots: Iterable[Path]) -> Fixed:
    """Mend the repositories; a line on standard error for each file that could not be written."""
    problems = files = 0
    for root in roots:
        for each in list(fixes(root)):
            mended = _apply(root, each)
            problems += mended
            files += mended > 0
    return Fixed(problems, files)


def show(roots: Iterable[Path]) -> int:
    """Print what `fix` would do as a unified diff; 1 if that is something, else 0."""
    found = [(root, each) for root in roots for each in fixes(root)]
    for root, each in found:
        click.echo("".join(_diff(root, each)), nl=False)
    if found:
        would = Fixed(sum(each.problems for _, each in found), len(found))
        click.echo(f"Would fix {would}.", err=True)
    return 1 if found else 0


def _apply(root: Path, wanted: Fix) -> int:
    """How many problems are mended."""
    before, after = wanted.before.encode(), wanted.after.encode()
    mended = 0
    try:
        if before != after:
            rewrite(root, wanted.path, before, after)
            mended = wanted.quoted
        if wanted.is_renamed:
            rename(root, wanted.path, wanted.new_path, after)
            mended += 1
    except Refused as error:
        _left(root, wanted, str(error))
    except OSError as error:
        _left(root, wanted, error.strerror or str(error))
    return mended


def _left(root: Path, wanted: Fix, why: str) -> None:
    click.echo(f"{_shown(root, wanted.path)}: not fixed: {why}", err=True)


def _diff(root: Path, wanted: Fix) -> Iterator[str]:
    """In the form of git, whose names of files have no / before them."""
    old, new = (_shown(root, path).lstrip("/") for path in (wanted.path, wanted.new_path))
    yield f"diff --git a/{old} b/{new}\n"
    if wanted.is_renamed:
        yield f"rename from {old}\nrename to {new}\n"
    lines = unified_diff(
        _lines(wanted.before), _lines(wanted.after), f"a/{old}", f"b/{new}", lineterm="\n"
    )
    for line in lines:
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _lines(text: str) -> Sequence[str]:
    """With their ends; only a line feed is one, as for git."""
    return [line for line in text.replace("\n", "\n\0").split("\0") if line]


def _shown(root: Path, path: str) -> str:
    return one_line((root / path).as_posix())
