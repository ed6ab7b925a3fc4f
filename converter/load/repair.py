"""A broken file without what is wrong in it, so that the rules can look at the rest.

All problems are to be found in one run, so a misspelt key must not hide a volume that is there
twice. Only what no rule draws conclusions from is left out; where more is wrong, the rest of the
file waits until that is mended.
"""

from collections.abc import Iterable
from typing import Any, Final

from converter.load.schema import FileKind, Violation, accepts

_HARMLESS: Final = ("priority", "suspend")


def repaired(kind: FileKind, values: Any, found: Iterable[Violation]) -> Any:
    """`values` without what the schema does not accept; None where that takes away too much.

    Unknown keys are left out of any file; of a campaign also a priority and a `suspend` that are
    wrong. A volume that is wrong is replaced, so that the others keep their places.
    """
    if not isinstance(values, dict):
        return None
    rest = {**values}
    for violation in found:
        match violation.path:
            case () if violation.keyword == "additionalProperties":
                for name in violation.names:
                    rest.pop(name, None)
            case (str(name), *_) if kind is FileKind.CAMPAIGN and name in _HARMLESS:
                rest.pop(name, None)
            case ("volumes", int(index), *_) if kind is FileKind.CAMPAIGN:
                rest["volumes"] = [
                    f"unreadable-{index}" if place == index else volume
                    for place, volume in enumerate(rest["volumes"])
                ]
            case _:
                return None
    return rest if accepts(kind, rest) else None
