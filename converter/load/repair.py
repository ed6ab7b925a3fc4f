"""A broken file without what is wrong in it, so that the rules can look at the rest.

All problems are to be found in one run, so a misspelt key must not hide a volume that is there
twice. Only what no rule draws conclusions from is left out; where more is wrong, the rest of the
file waits until that is mended.
"""

from collections.abc import Iterable
from typing import Any, Final

from converter.load.schema import FileKind, Violation, accepts

# Keys of which no rule reads anything out of their absence.
_HARMLESS: Final[dict[FileKind, tuple[str, ...]]] = {
    FileKind.CAMPAIGN: ("priority", "suspend"),
    FileKind.PIPELINE: ("env", "ttl_seconds_after_finished"),
    FileKind.CONVERTER: (
        "env",
        "secrets",
        "runtime_class",
        "ttl_seconds_after_finished",
        "backoff_limit_per_index",
        "prune_limit",
        "repository",
        "reactivate",
        "apiserver_request_timeout",
        "s3_secret",
        "hf_token_secret",
        "results_url",
        "public_results_base",
        "manifest_max_bytes",
        "fetch_max_bytes",
        "image_cache",
    ),
}


def repaired(kind: FileKind, values: Any, found: Iterable[Violation]) -> Any:
    """`values` without what the schema does not accept; None where that takes away too much.

    Left out are keys that are unknown, and those that are wrong where no rule misses them. A volume
    that is wrong is replaced, so that the others keep their places.
    """
    if not isinstance(values, dict):
        return None
    rest = {**values}
    wrong: set[int] = set()
    for violation in found:
        match violation.path:
            case () if violation.keyword == "additionalProperties":
                for name in violation.names:
                    rest.pop(name, None)
            case () if kind is FileKind.CONVERTER and violation.keyword == "not":
                for name in violation.schema["not"]["required"]:
                    rest.pop(name, None)
            case (str(name), *_) if name in _HARMLESS[kind]:
                rest.pop(name, None)
            case ("volumes", int(index), *_) if kind is FileKind.CAMPAIGN:
                wrong.add(index)
            case _:
                return None
    if wrong:
        rest["volumes"] = [
            f"unreadable-{place}" if place in wrong else volume
            for place, volume in enumerate(values["volumes"])
        ]
    return rest if accepts(kind, rest) else None
