"""What a campaign's ConfigMap says about its volumes, and how to read it back.

``volumes.txt`` has one line an index: ``<id>``, a tab, and the source or ``images:`` and the URLs
with blanks between them. ``env.txt`` is there only when a volume has an environment of its own. It
has one line a variable: ``<index>``, a tab, ``<NAME>``, a tab, the value; each further line of a
value has an empty name. The launcher in a pod (``manifests/launcher.sh``) reads both.

Lines end in a newline and in nothing else: an id or a source that has one is refused by the rules.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from converter.model import Settings, SourceKind, Volume

VOLUMES_KEY: Final = "volumes.txt"
ENVIRONMENT_KEY: Final = "env.txt"

_IMAGES: Final = "images:"
_REF: Final = "{ref}"


def sources_of(volume: Volume, settings: Settings) -> tuple[str, ...]:
    """Where a volume's material is. A bare id goes into ``source_template``."""
    if volume.kind is SourceKind.IMAGES:
        return volume.images
    if volume.kind is SourceKind.REFERENCE:
        return (settings.source_template.replace(_REF, volume.id),)
    return (volume.source,)


def volume_line(volume: Volume, settings: Settings) -> str:
    """The line of one volume, newline included."""
    marker = _IMAGES if volume.kind is SourceKind.IMAGES else ""
    return f"{volume.id}\t{marker}{' '.join(sources_of(volume, settings))}\n"


def environment_lines(index: int, volume: Volume) -> str:
    """The lines of one volume's environment, in order of name; empty when it has none."""
    return "".join(
        f"{index}\t{'' if number else name}\t{line}\n"
        for name, value in sorted(volume.env.items())
        for number, line in enumerate(value.split("\n"))
    )


def volumes_data(volumes: Iterable[Volume], settings: Settings) -> dict[str, str]:
    """``data`` of a campaign's ConfigMap; index i of the Job is the i-th of `volumes`."""
    listed = tuple(volumes)
    data = {VOLUMES_KEY: "".join(volume_line(volume, settings) for volume in listed)}
    environment = "".join(
        environment_lines(index, volume) for index, volume in enumerate(listed) if volume.env
    )
    return data | ({ENVIRONMENT_KEY: environment} if environment else {})


def parse_volumes(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The (id, sources) pairs of a ``volumes.txt``, by index.

    Raises ValueError, with the number of the line, for one that has no id or no tab.
    """
    return tuple(_parsed_lines(text))


def _parsed_lines(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    # Not splitlines(): a source may have a form feed or U+2028 in it, which end no line here.
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        volume_id, tab, source = line.partition("\t")
        if not (volume_id and tab):
            raise ValueError(f"line {number} of {VOLUMES_KEY} is not an id, a tab and a source")
        images = source.startswith(_IMAGES)
        yield volume_id, tuple(source.removeprefix(_IMAGES).split(" ")) if images else (source,)
