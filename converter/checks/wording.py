"""Words that several rules use."""

from collections.abc import Collection
from typing import Final

from converter.load.wording import alike
from converter.wording import first_few

# Stands in the examples of rules for an image with a digest.
EXAMPLE_IMAGE: Final = "registry.example/ocr@sha256:" + "1f" * 32


def instead(word: str, known: Collection[str], otherwise: str) -> str:
    """What to write for `word`: the one that is meant, one of all, or else `otherwise`."""
    close = alike(word, known)
    if close is not None:
        return f"did you mean {close}?"
    return f"write one of: {first_few(sorted(known))}" if known else otherwise
