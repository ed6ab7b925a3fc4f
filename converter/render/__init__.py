"""Rendering: from a repository's values to the objects of a cluster.

A pure function of the files: no clock, no environment, no network, and the same bytes on every run
and machine.
"""

from converter.render.repository import render

__all__ = ["render"]
