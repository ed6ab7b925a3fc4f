"""What a plain (unquoted) YAML scalar is, for readers of YAML 1.1 and of YAML 1.2 alike.

A campaigns repository is read by this package, by editors, by kubectl (YAML 1.1, go-yaml) and by
PyYAML (nearly 1.1); most other tools follow YAML 1.2. They disagree on ``yes``, ``0012``, ``1:20``
or ``1e5``. Here a scalar has a value if all of them read the same one. What one of them reads as
something other than text, while another does not, is a `Misread`: nobody's guess is used.

Sources: https://yaml.org/type/ for 1.1, https://yaml.org/spec/1.2.2/#103-core-schema for 1.2, and
``resolve.go`` of gopkg.in/yaml.v2 for what kubectl does beside it.
"""

import re
from dataclasses import dataclass
from math import isfinite
from typing import Final

# What most readers have for an integer: 64 bits, which take up to 19 digits.
_MAX_INTEGER: Final = 2**63 - 1
_MAX_DIGITS: Final = 19

_AGREED: Final[dict[str, bool | None]] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_MISREAD_WORDS: Final = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "on", "On", "ON"), "true"),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "off", "Off", "OFF"), "false"),
    "=": "the default value of a mapping",
    "<<": "a merge of mappings",
}
_LETTERS: Final = frozenset("yYnN")
_INTEGER: Final = re.compile(r"[-+]?(?:0|[1-9][0-9]*)\Z")
_FLOAT: Final = re.compile(r"(?:[-+]?[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+][0-9]+)?\Z")
_MISREAD: Final = (
    (re.compile(r"[-+]?0b[01_]+\Z"), "binary"),
    (re.compile(r"[-+]?0o[0-7_]+\Z"), "octal"),
    (re.compile(r"[-+]?0[0-7_]+\Z"), "octal"),
    (re.compile(r"[-+]?0x[0-9a-fA-F_]+\Z"), "hexadecimal"),
    (re.compile(r"[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?\Z"), "sixties"),
    (re.compile(r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?\Z"), ""),
    (re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z"), "no finite number"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:(?:[Tt]|[ \t]+)[0-9].*)?\Z"), "date"),
)
_BASES: Final = {"binary": 2, "octal": 8, "hexadecimal": 16}
_EXPONENT: Final = re.compile(r"([-+]?[0-9.]+)[eE]([-+]?)([0-9]+)\Z")
_LEADING_ZERO: Final = re.compile(r"[-+]?0[0-7]+\Z")
_BASE_PREFIX: Final = re.compile(r"0[box]?")
# Text that begins with none of these and is no word of the above is text for everybody.
_SUSPECT_START: Final = frozenset("0123456789+-.")
_WORDS: Final = frozenset(_AGREED) | frozenset(_MISREAD_WORDS)


@dataclass(frozen=True, slots=True)
class Misread:
    """Text of which readers of YAML make different things; `reading` says what, in words.

    `usual` is how to write the same so that all of them read it, if there is a way, and `number`
    the number that it is for some of them.
    """

    text: str
    reading: str
    usual: str = ""
    number: int | float | None = None


Scalar = str | int | float | bool | None | Misread


def plain_scalar(text: str) -> Scalar:
    """The value of the plain scalar `text`."""
    if text[:1] not in _SUSPECT_START and text not in _WORDS:
        return text
    if text in _AGREED:
        return _AGREED[text]
    if text in _MISREAD_WORDS:
        word = _MISREAD_WORDS[text]
        return Misread(text, word, word if word in ("true", "false") else "")
    if _INTEGER.match(text) and len(text) <= _MAX_DIGITS + 1 and abs(int(text)) <= _MAX_INTEGER:
        return int(text)
    if _FLOAT.match(text) and (number := float(text)) not in (float("inf"), float("-inf")):
        return number
    return _misread(text)


def is_text_key(text: str) -> bool:
    """Whether a mapping's plain key `text` is text.

    As keys ``x`` and ``y`` are too common to refuse for the one reader, go-yaml 2, that takes
    ``y`` for true.
    """
    return text in _LETTERS or isinstance(plain_scalar(text), str)


def reading(value: Scalar) -> str:
    """What YAML read, in the words of a message: "the number 1.1", "true", "nothing"."""
    if isinstance(value, Misread):
        return value.reading
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"the text {value}" if isinstance(value, str) else f"the number {value}"


def _misread(text: str) -> Scalar:
    for pattern, what in _MISREAD:
        if not pattern.match(text):
            continue
        if what == "date":
            return Misread(text, "a date")
        if what == "no finite number":
            return Misread(text, what)
        return _misread_number(text, text.replace("_", ""), what)
    return text


def _misread_number(text: str, digits: str, what: str) -> Misread:
    if len(digits) > _MAX_DIGITS:
        return Misread(text, "a number", number=None if what else float(digits))
    number = _number(digits, what)
    if isinstance(number, float) and not isfinite(number):
        return Misread(text, "no finite number")
    reading = f"the number {number}" + (f" ({what})" if what in _BASES else "")
    return Misread(text, reading, _usual(digits, number), number)


def _usual(digits: str, number: int | float) -> str:
    """`number` as YAML 1.1 and 1.2 both read it; empty if they read it in no form."""
    if exponent := _EXPONENT.match(digits):
        mantissa, sign, power = exponent.groups()
        return f"{mantissa}{'' if '.' in mantissa else '.0'}e{sign or '+'}{power}"
    if _LEADING_ZERO.match(digits) and digits.lstrip("+-0") != str(abs(number)):
        # Octal for YAML 1.1 and decimal for 1.2.
        return f"{int(digits)} or {number}"
    text = str(number)
    agreed = _FLOAT.match(text) if isinstance(number, float) else abs(number) <= _MAX_INTEGER
    return text if agreed else ""


def _number(digits: str, what: str) -> int | float:
    negative, magnitude = digits.startswith("-"), digits.lstrip("+-")
    if what == "sixties":
        number: int | float = 0
        for part in magnitude.split(":"):
            number = number * 60 + (float(part) if "." in part else int(part))
    elif what in _BASES:
        number = int(_BASE_PREFIX.sub("", magnitude, count=1) or "0", _BASES[what])
    else:
        number = int(magnitude) if magnitude.isdigit() else float(magnitude)
    return -number if negative else number
