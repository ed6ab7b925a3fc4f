"""Text as one line of plain ASCII, which ``printf %b`` turns back into what it was.

So a shell script can read any value without ever taking it for shell text.
"""

import string
from collections.abc import Iterable, Mapping
from typing import Final

_PLAIN: Final = frozenset((string.ascii_letters + string.digits + "_./:@%+,=-").encode())
_ESCAPED: Final = tuple(chr(byte) if byte in _PLAIN else f"\\0{byte:03o}" for byte in range(256))


def escaped(text: str) -> str:
    r"""`text` with each other byte of its UTF-8 than letters, digits and ``_./:@%+,=-`` as
    ``\0ooo``, three octal digits."""
    return "".join(_ESCAPED[byte] for byte in text.encode())


def escaped_lines(texts: Iterable[str]) -> str:
    """A line for each text."""
    return "".join(f"{escaped(text)}\n" for text in texts)


def escaped_variables(variables: Mapping[str, str], prefix: str = "") -> str:
    """A line ``NAME=value`` for each variable, in order of name; names are not escaped."""
    return "".join(f"{prefix}{name}={escaped(variables[name])}\n" for name in sorted(variables))
