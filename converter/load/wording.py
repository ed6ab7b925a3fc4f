"""How a message names a place in a file and shows what stands there."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Final

SHOWN: Final = 60
# A name with fewer of its characters is no abbreviation that one can be sure of.
_ABBREVIATION: Final = 3

# Spaces other than the usual one, and characters without a width.
INVISIBLE: Final = "\xa0\xad\u1680\u2000-\u200f\u202f\u205f-\u2064\u3000\ufeff"
_INVISIBLE: Final = re.compile(f"[{INVISIBLE}]")
_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_USERINFO: Final = re.compile(r"(?<=//)[^/?#]*@")
_SECRET_PARAMETER: Final = re.compile(
    r"(?P<name>[?&;#](?:x-amz-[^=&;#]*|[^=&;#]*(?:token|sig|key|secret|passw|credential)[^=&;#]*)=)"
    r"[^&;#]*",
    re.IGNORECASE,
)
# The runners of GitHub and of Azure take these for a command, anywhere in a line of a log.
_RUNNER_COMMAND: Final = re.compile(r"##(?=(?:vso)?\[)")


def shown(text: str) -> str:
    """`text` on one line, without the secrets of URLs, at most `SHOWN` characters long.

    Characters that nobody could see are shown by their numbers.
    """
    safe = _USERINFO.sub("***@", text)
    safe = one_line(_SECRET_PARAMETER.sub(r"\g<name>***", safe))
    safe = _INVISIBLE.sub(lambda found: f"<{named_character(found[0])}>", safe)
    return safe if len(safe) <= SHOWN else f"{safe[: SHOWN - 1]}…"


def named_character(character: str) -> str:
    """A character by its number in Unicode, for example ``U+200B``."""
    return f"U+{ord(character):04X}"


def one_line(text: str) -> str:
    """`text` without line breaks and other characters that a terminal would act on."""
    # A lone surrogate comes from a file name that is not UTF-8; no terminal could print it.
    printable = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return _RUNNER_COMMAND.sub("# #", _UNPRINTABLE.sub(" ", printable))


def quoted(text: str) -> str:
    """`text` as a message shows it, in quotes."""
    return f'"{shown(text)}"'


def subject(path: Sequence[str | int]) -> str:
    """A place in a file, for example ``volumes, entry 3, manifest``. Entries count from 1."""
    if not path:
        return "the file"
    return ", ".join(f"entry {step + 1}" if isinstance(step, int) else shown(step) for step in path)


def listed(names: Iterable[str], last: str = "and") -> str:
    """Names as a sentence lists them: ``a, b and c``."""
    *most, final = names
    return f"{', '.join(most)} {last} {final}" if most else final


def alike(word: str, known: Iterable[str]) -> str | None:
    """The one of `known` that `word` was probably meant to be."""
    names = list(known)
    # gpu is short for nvidia.com/gpu.
    folded = {_folded(name.rpartition("/")[2]): name for name in names}
    folded |= {_folded(name): name for name in names}
    short = {name for begun, name in folded.items() if begun.startswith(_folded(word))}
    if len(word) >= _ABBREVIATION and len(short) == 1:
        return short.pop()
    close = get_close_matches(_folded(word), folded, n=1, cutoff=0.7)
    return folded[close[0]] if close else None


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")
