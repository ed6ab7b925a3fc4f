"""A campaign's name on the command line, where it is misspelt or in the place of REPO."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import click

from converter.load.files import DIRECTORIES
from converter.load.schema import FileKind
from converter.load.wording import alike

NAME = "name"
REPO = "repo"


def unknown_campaign(name: str, where: str, known: Collection[str]) -> click.BadParameter:
    """The error for a NAME that no campaign has."""
    meant = alike(name, known)
    remedy = f": did you mean {meant}?" if meant else ""
    return click.BadParameter(f"there is no campaign {name} {where}{remedy}", param_hint="NAME")


class RepositoryPath(click.Path):
    """A directory that is there. Where the command takes NAME too, the error says how to write it,
    since a name alone is taken for REPO.
    """

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The path. Raises click.BadParameter."""
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:
            example = _with_name(str(value), ctx) if ctx else ""
            if not example:
                raise
            message = f"{error.message} If it is a campaign, write: {example}"
            raise click.BadParameter(message, ctx=ctx, param=param) from error


def _with_name(value: str, ctx: click.Context) -> str:
    """The command line with `value` as the campaign of the repository here, if there can be one."""
    arguments = [each.name for each in ctx.command.params if isinstance(each, click.Argument)]
    if NAME not in arguments or "/" in value:
        return ""
    directory = Path(DIRECTORIES[FileKind.CAMPAIGN])
    meant = alike(value, [file.stem for file in directory.glob("*.yaml")]) or value
    words = [meant if name == NAME else "." for name in arguments]
    return f"campaigns {ctx.info_name} {' '.join(words)}"
