"""Files in, values out, with a position for every problem. Knows nothing of Kubernetes."""

from converter.load.repository import load_repo
from converter.load.result import LoadResult, Positions
from converter.load.rules import RULES

__all__ = ["RULES", "LoadResult", "Positions", "load_repo"]
