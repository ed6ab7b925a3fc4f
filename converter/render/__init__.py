"""Rendering: from a repository's values to the objects of a cluster.

A pure function of the files: no clock, no environment, no network, and the same bytes on every run
and machine.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from converter.render.repository import render

__all__ = ["render"]


def __getattr__(name: str) -> Any:
    """`render`, imported when it is asked for: a digest of what it is made from needs no Jinja."""
    if name == "render":
        from converter.render.repository import render

        return render
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
