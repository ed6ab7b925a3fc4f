"""What a file of the repository said before, from the bytes that it was made of.

Positions and mistakes of such a file are nobody's concern, since nobody can mend it now.
"""

import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

from converter.load import build, quick
from converter.load.files import DIRECTORIES, MAX_BYTES, SETTINGS_FILE, SUFFIX
from converter.load.keys import key_mistakes
from converter.load.nodes import Node, compose, plain_values
from converter.load.opaque import opaque_mistakes, opaque_values
from converter.load.result import LoadResult
from converter.load.schema import FileKind, accepts, violations
from converter.load.syntax import Malformed
from converter.model import EMPTY, Campaign, Pipeline, Settings

CAMPAIGNS: Final = DIRECTORIES[FileKind.CAMPAIGN]
PLACES: Final = (SETTINGS_FILE, *DIRECTORIES.values())
_STEPS: Final = "steps"

_Form = TypeVar("_Form", Settings, Pipeline, Campaign)
# The old contents of changed files by path, None for one that was not there.
Changed = Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True)
class Earlier:
    """A repository as a commit has it, to be compared with the one that was loaded.

    Only files that are there now as well, with no mistake in either form, but for `gone`: campaigns
    that are not there any more. `commit` is how people call the commit. Of the campaigns, those
    whose files are as they were may be left out while `settings` and all of the pipelines are as
    they were too, and none is gone.
    """

    commit: str
    settings: Settings | None
    pipelines: Mapping[str, Pipeline]
    campaigns: Mapping[str, Campaign]
    gone: Mapping[str, Campaign] = field(default_factory=lambda: EMPTY)


def gone_from(loaded: LoadResult, changed: Collection[str]) -> list[str]:
    """Those of the changed paths that are campaigns no more, and did not just get another end."""
    return [
        path
        for path in changed
        if path.startswith(f"{CAMPAIGNS}/")
        and path.endswith(SUFFIX)
        and path not in loaded.broken
        and not os.path.lexists(loaded.root / path)
    ]


def earlier(
    loaded: LoadResult, commit: str, changed: Changed, campaigns_then: frozenset[str]
) -> Earlier:
    """What is in `loaded` as it was at `commit`.

    A file that is not in `changed` is as it was; a campaign's only if its path is also among
    `campaigns_then`, since git does not know of every file.
    """
    old = partial(_form, loaded, changed)
    settings = loaded.settings and old(
        FileKind.CONVERTER, SETTINGS_FILE, loaded.settings, build.settings
    )
    pipelines = {
        name: old(FileKind.PIPELINE, now.path, now, partial(build.pipeline, name, now.path))
        for name, now in loaded.pipelines.items()
    }
    campaigns = {
        name: old(
            FileKind.CAMPAIGN, path, loaded.campaigns[name], partial(build.campaign, name, path)
        )
        for name in loaded.campaigns
        if (path := f"{CAMPAIGNS}/{name}.yaml") in changed or path in campaigns_then
    }
    gone = {
        (name := path.removeprefix(f"{CAMPAIGNS}/").removesuffix(SUFFIX)): _made(
            changed[path], FileKind.CAMPAIGN, partial(build.campaign, name, path)
        )
        for path in gone_from(loaded, changed)
    }
    return Earlier(commit, settings, _known(pipelines), _known(campaigns), _known(gone))


def values_of(kind: FileKind, contents: bytes) -> Any:
    """The values in a file, or None where it has any mistake."""
    if len(contents) > MAX_BYTES:
        return None
    try:
        text = contents.decode("utf-8")
    except UnicodeDecodeError:
        return None
    values = quick.read(text)
    if values is not None and accepts(kind, values):
        return values
    try:
        return _values_of_tree(kind, compose(text))
    except Malformed:
        return None


def _values_of_tree(kind: FileKind, root: Node) -> Any:
    """Of a file that has anchors, or steps that only YAML 1.1 reads as they are meant."""
    values = plain_values(root)
    opaque = None
    if kind is FileKind.PIPELINE and _STEPS in root.entries:
        opaque = root.entries[_STEPS][1]
    if violations(kind, values) or any(key_mistakes(root, opaque)):
        return None
    if opaque is not None:
        if any(opaque_mistakes(opaque)):
            return None
        values[_STEPS] = opaque_values(opaque)
    return values


def _form(
    loaded: LoadResult,
    changed: Changed,
    kind: FileKind,
    path: str,
    now: _Form,
    make: Callable[[Any], _Form],
) -> _Form | None:
    if path in loaded.broken:
        return None
    if path not in changed:
        return now
    return _made(changed[path], kind, make)


def _made(contents: bytes | None, kind: FileKind, make: Callable[[Any], _Form]) -> _Form | None:
    values = None if contents is None else values_of(kind, contents)
    return None if values is None else make(values)


def _known(forms: Mapping[str, _Form | None]) -> dict[str, _Form]:
    return {name: form for name, form in forms.items() if form is not None}
