"""Quantities in the spelling in which an API server stores them.

An API server parses ``0.5`` and stores ``500m``. What is applied must be spelt the same way, or an
unchanged object looks changed.
"""

import re
from fractions import Fraction
from functools import lru_cache
from typing import Final

_QUANTITY: Final = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]{1,2}))?\Z"
)
_NEARLY: Final = re.compile(
    r"(?P<number>[0-9]+(?:\.[0-9]+)?) ?(?P<prefix>[kmgtpe]?)(?P<binary>i?)b?\Z", re.IGNORECASE
)
# The one decimal suffix above 1 that is a small letter.
_SMALL: Final = {"K": "k"}
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = ("n", "u", "m", "", "k", "M", "G", "T", "P", "E")
_NANO: Final = 10**9
_SMALLEST_EXPONENT: Final = -9


@lru_cache(maxsize=4096)
def parse_quantity(text: str) -> Fraction:
    """The exact amount, in cores, bytes or pieces. Raises ValueError for what is no quantity.

    Signs are refused: nothing here may be negative. The kubernetes package has the same function,
    but its import takes longer than the whole of `campaigns validate` may; a test compares them.
    """
    return _amount(_found(text))


def canonical_quantity(text: str, *, decimals: int = 9) -> str:
    """`text` in canonical form: an integer with the largest suffix that loses nothing.

    The rules are those of ``k8s.io/apimachinery/pkg/api/resource.Quantity``: the family of
    suffixes (``Mi``, ``M`` or ``e6``) stays the one that was written, except that a binary quantity
    below 1024, or with a fraction of a unit, becomes a decimal one; what has more
    than so many `decimals` is rounded up. Raises ValueError for what is not a quantity, signs
    included.
    """
    found = _found(text)
    suffix, exponent = found["suffix"] or "", found["exponent"]
    nanos = -(-_amount(found) * 10**decimals // 1) * 10 ** (9 - decimals)
    if suffix in _BINARY[1:] and nanos >= 1024 * _NANO and nanos % _NANO == 0:
        return _with_suffix(nanos // _NANO, 1024, _BINARY)
    if exponent is not None:
        number, power = _reduced(nanos, 1000, len(_DECIMAL) - 1)
        power = _SMALLEST_EXPONENT + 3 * power if number else 0
        return f"{number}e{power}" if power else str(number)
    return _with_suffix(nanos, 1000, _DECIMAL)


def meant_quantities(text: str) -> tuple[str, ...]:
    """What somebody who wrote `text`, which is no quantity, may have meant; empty if unknown.

    ``256MB`` and ``256g`` are found in other programs, where they stand for powers of 1000 for
    some and of 1024 for others.
    """
    meant = _NEARLY.match(text)
    if meant is None:
        return ()
    number, prefix = meant["number"], meant["prefix"].upper()
    if not prefix:
        return (number,)
    binary = f"{number}{prefix}i"
    return (binary,) if meant["binary"] else (f"{number}{_SMALL.get(prefix, prefix)}", binary)


def _found(text: str) -> re.Match[str]:
    found = _QUANTITY.match(text)
    if found is None:
        raise ValueError(f"{text!r} is not a quantity such as 2, 500m or 8Gi")
    return found


def _amount(found: re.Match[str]) -> Fraction:
    return Fraction(found["number"]) * _factor(found["suffix"] or "", found["exponent"])


def _factor(suffix: str, exponent: str | None) -> Fraction:
    if exponent is not None:
        return Fraction(10) ** int(exponent)
    if suffix in _BINARY:
        return Fraction(1024) ** _BINARY.index(suffix)
    return Fraction(1000) ** (_DECIMAL.index(suffix) - _DECIMAL.index(""))


def _with_suffix(number: int, base: int, suffixes: tuple[str, ...]) -> str:
    if number == 0:
        return "0"
    reduced, power = _reduced(number, base, len(suffixes) - 1)
    return f"{reduced}{suffixes[power]}"


def _reduced(number: int, base: int, limit: int) -> tuple[int, int]:
    """`number` as ``reduced * base**power``, with the largest power up to `limit`."""
    power = 0
    while number and power < limit and number % base == 0:
        number //= base
        power += 1
    return number, power
