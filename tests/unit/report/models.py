"""Pages out of the ordinary: with nothing, with a thousand, with hostile and long texts."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

from unit.report.archive import Site, archive, repository

from converter.report.model import Model

HOSTILE = (
    "\"'><script>hacked=1</script><img src=x onerror=hacked=1>&lt;\u202e\x1b[31m{{ 7*7 }}</style>"
)
# What the template tells kinds of things by, and times.
_KEPT = ("phase", "kind", "code", "iso", "counts")
LONG = "x" * 63


def empty() -> Model:
    return Site(repository()).model(commit="")


def thousand() -> Model:
    """The archive's cards again and again, each with a name of its own."""
    model = archive().model()
    cards = tuple(
        replace(card, name=f"{card.name}-{number:03}")
        for number in range(67)
        for card in model.cards
    )[:1000]
    return replace(model, cards=cards)


def hostile() -> Model:
    """Every text is an attack."""
    found: Model = _changed(archive().model(), lambda text: f"{text}{HOSTILE}")
    return found


def long() -> Model:
    """Every name and every word is as long as a label may be."""
    found: Model = _changed(archive().model(), lambda text: f"{text}{LONG}"[:63])
    return found


def _changed(value: Any, change: Any) -> Any:
    if isinstance(value, str):
        return change(value)
    if isinstance(value, tuple):
        return tuple(_changed(each, change) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        members = {each.name: getattr(value, each.name) for each in fields(value)}
        changed = {
            name: member if name in _KEPT else _changed(member, change)
            for name, member in members.items()
        }
        return type(value)(**changed)
    return value
