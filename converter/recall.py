"""Loading and checking a repository most of whose campaigns are as they were, and were valid.

A run notes down in which campaigns nothing was found, by a hash of each file. The next one loads
and checks the others alone, and what these are linked to: campaigns that have a volume or the name
of a Job in common with them, or had before. Nothing else reaches from one campaign to another. So a
rule about a campaign may look at it, at converter.yaml, at pipelines, and at campaigns that it is
linked to; one about anything else looks at no campaign. A test compares both ways for every rule.
"""

import os
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, NamedTuple, TypeVar
from zlib import crc32

import jsonschema_rs
import yaml

from converter import __version__, cache
from converter.checks.registry import findings
from converter.checks.rendered import sample_problems
from converter.load.files import DIRECTORIES, MAX_BYTES, Found, find, read
from converter.load.mistakes import Mistake
from converter.load.positions import TextPositions
from converter.load.repository import Loading
from converter.load.result import LoadResult
from converter.load.schema import FileKind
from converter.load.wording import one_line
from converter.model import Campaign, Repo
from converter.problem import Problem
from converter.resources import schema_text
from converter.split import NAME_LENGTH

_PACKAGE: Final = Path(__file__).parent
_CHANGED: Final = b""
# Chains of links that are longer are not followed: everything is checked.
_MOST_STEPS: Final = 8
_LINK: Final = "I"
_Value = TypeVar("_Value")

# By path: the hash of a campaign's file and what it is linked by; of one in which something was
# found there is no hash.
_Known = tuple[bytes, bytes]


class Recalled(NamedTuple):
    """A repository, and what `findings` finds in it, in no particular order.

    `base` stands for all that there is besides campaigns, this program included.
    """

    loaded: LoadResult
    found: tuple[Problem, ...]
    base: bytes


def recall(root: Path) -> Recalled:
    """The repository in `root`.

    Campaigns that are as they were are loaded when somebody asks for them.
    """
    return _Recall(root).run()


def recall_samples(repo: Repo, root: Path, base: bytes) -> tuple[Problem, ...]:
    """What `sample_problems` finds in a valid repository, which depends on its base alone.

    That nothing was found is noted down. Rendering is what costs most of the time of a short run.
    """
    subject = f"{os.path.realpath(root)}\nsamples"
    noted = cache.read(subject)
    if noted is not None and noted.get("key") == base:
        return ()
    found = sample_problems(repo)
    if not found:
        cache.write(subject, {"key": base})
    return found


@dataclass(slots=True)
class _Reader:
    """Reads files, and keeps a hash of each."""

    digests: dict[str, bytes] = field(default_factory=dict)

    def read(self, root: Path, path: str) -> str | Mistake:
        text = read(root, path)
        if isinstance(text, str):
            self.digests[path] = cache.digest(text.encode())
        return text


class _Recall:
    def __init__(self, root: Path) -> None:
        self._root = root
        self._subject = os.path.realpath(root)
        self._reader = _Reader()
        self._loading = Loading(root, self._reader.read)
        listed = list(find(root))
        self._campaigns = {each.path: each for each in listed if _is_campaign(each)}
        self._others = [each for each in listed if not _is_campaign(each)]

    def run(self) -> Recalled:
        for each in self._others:
            self._loading.add(each)
        base = self._loading.result()
        key = self._key(base)
        noted = _noted(self._subject, key)
        contents = _contents(self._root, self._campaigns) if noted else {}
        kept = self._load_changed(noted, contents)
        part = self._loading.result()
        found = tuple(findings(part))
        alone = self._about_others(found) == set(findings(base))
        if kept and not alone:
            for path in kept:
                self._loading.add(self._campaigns[path])
            kept, part = {}, self._loading.result()
            found = tuple(findings(part))
        if alone:
            self._note(key, noted, {**kept, **self._judged(part, found)})
        return Recalled(self._whole(part, kept, contents), found, key)

    def _key(self, base: LoadResult) -> bytes:
        """What the judgement of a campaign depends on besides campaigns."""
        misnamed = (repr((each.path, each.stands_for, each.mistake)) for each in self._others)
        digests = (repr(entry) for entry in sorted(self._reader.digests.items()))
        said = (repr(base.problems), repr(sorted(base.broken)))
        parts = (*_tool(), *misnamed, "", *digests, "", *said)
        return cache.digest(*(part.encode("utf-8", "surrogateescape") for part in parts))

    def _load_changed(
        self, noted: Mapping[str, _Known], contents: Mapping[str, bytes]
    ) -> dict[str, _Known]:
        """Load all campaigns but those that are noted as valid and of which it is still true."""
        kept = {
            path: noted[path]
            for path, content in contents.items()
            if path in noted and noted[path][0] == cache.digest(content)
        }
        links = {link for path in noted.keys() - kept.keys() for link in _links(noted[path])}
        for path, each in self._campaigns.items():
            if path not in kept:
                self._loading.add(each)
        links.update(*map(_links_of, self._loading.result().campaigns.values()))
        for step in range(_MOST_STEPS + 1):
            last = step == _MOST_STEPS
            linked = [p for p in kept if last or not links.isdisjoint(_links(kept[p]))]
            if not linked:
                break
            for path in linked:
                links.update(_links(kept.pop(path)))
                self._loading.add(self._campaigns[path])
        return kept

    def _about_others(self, found: Sequence[Problem]) -> set[Problem]:
        names = {one_line(path) for path in self._campaigns}
        return {problem for problem in found if problem.path not in names}

    def _judged(self, part: LoadResult, found: Sequence[Problem]) -> dict[str, _Known]:
        """What is to be noted of the campaigns that were loaded."""
        faulty = {problem.path for problem in (*part.problems, *found)}
        judged = {}
        for campaign in part.campaigns.values():
            path = campaign.path
            valid = one_line(path) not in faulty and path not in part.comments
            digest = self._reader.digests[path] if valid else _CHANGED
            judged[path] = (digest, array(_LINK, _links_of(campaign)).tobytes())
        return judged

    def _note(self, key: bytes, noted: Mapping[str, _Known], judged: dict[str, _Known]) -> None:
        if noted != judged:
            cache.write(self._subject, {"key": key, "campaigns": judged})

    def _whole(
        self, part: LoadResult, kept: Mapping[str, _Known], contents: Mapping[str, bytes]
    ) -> LoadResult:
        """`part`, and the campaigns that were kept."""
        if not kept:
            return part

        def load(path: str) -> LoadResult:
            loading = Loading(self._root, lambda _root, path: contents[path].decode())
            loading.add(self._campaigns[path])
            return loading.result()

        paths = {
            each.name: path
            for path, each in self._campaigns.items()
            if path in kept or each.name in part.campaigns
        }
        return replace(
            part,
            campaigns=_Lazy(paths, part.campaigns, lambda name: load(paths[name]).campaigns[name]),
            positions=_Lazy(
                {**part.positions, **kept},
                part.positions,
                lambda path: TextPositions(contents[path].decode()),
            ),
        )


class _Lazy(Mapping[str, _Value]):
    """`names` in their order, each with a value; one that is not `given` is made when asked for."""

    def __init__(
        self,
        names: Mapping[str, object],
        given: Mapping[str, _Value],
        make: Callable[[str], _Value],
    ) -> None:
        self._names = names
        self._values = dict(given)
        self._make = make

    def __getitem__(self, name: str) -> _Value:
        if name not in self._values:
            if name not in self._names:
                raise KeyError(name)
            self._values[name] = self._make(name)
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def _is_campaign(found: Found) -> bool:
    return found.kind is FileKind.CAMPAIGN and found.mistake is None


def _links_of(campaign: Campaign) -> set[int]:
    """Numbers that two campaigns have in common where one can have to do with the other."""
    ids = {volume.id for volume in campaign.volumes}
    names = (*ids, f"\n{campaign.name[:NAME_LENGTH]}")
    # A campaign's name is that of a file, which may be no text at all.
    return {crc32(name.encode("utf-8", "surrogateescape")) for name in names}


def _links(known: _Known) -> "array[int]":
    return array(_LINK, known[1])


def _noted(subject: str, key: bytes) -> Mapping[str, _Known]:
    note = cache.read(subject)
    if note is None or note.get("key") != key:
        return {}
    campaigns = note.get("campaigns")
    if not isinstance(campaigns, dict) or not all(map(_is_known, campaigns.items())):
        return {}
    return campaigns


def _is_known(entry: tuple[object, object]) -> bool:
    """Whether an entry of a note has the form in which it was written, whoever wrote it."""
    match entry:
        case str(), (bytes(), bytes(links)):
            return len(links) % array(_LINK).itemsize == 0
    return False


def _tool() -> Iterator[str]:
    """This program: in a checkout a file of it may be another one at any time."""
    yield from (__version__, sys.version, sys.byteorder, yaml.__version__)
    yield str(getattr(jsonschema_rs, "__version__", ""))
    for directory, _, names in os.walk(_PACKAGE):
        for name in sorted(names):
            # What editors and Python itself put beside them comes and goes.
            if name.endswith((".py", ".j2", ".sh")) and not name.startswith("."):
                status = os.stat(os.path.join(directory, name))
                yield f"{directory}/{name} {status.st_size} {status.st_mtime_ns}"
    yield from map(schema_text, (*FileKind, "kubernetes"))


def _contents(root: Path, campaigns: Mapping[str, Found]) -> dict[str, bytes]:
    """The files, but for those that need a closer look, as a symbolic link does."""
    directory = root / DIRECTORIES[FileKind.CAMPAIGN]
    if directory.is_symlink():
        return {}
    contents = {path: cache.contents(root / path, MAX_BYTES) for path in campaigns}
    return {path: content for path, content in contents.items() if content is not None}
