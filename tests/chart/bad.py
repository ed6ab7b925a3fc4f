"""Values that the chart should refuse, made for tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chart.helm import Values

QUOTA = {"cpu": 4, "memory": "8Gi"}


@dataclass(frozen=True)
class Bad:
    """Values, and the end of the line of helm's error that says what is wrong with them."""

    name: str
    values: Values
    message: str
    release: str = "campaigns"


def flavor(name: str, labels: Values, **more: object) -> dict[str, Any]:
    """One entry of queue.flavors."""
    return {"name": name, "nodeLabels": dict(labels), "quota": QUOTA, **more}


def flavors(*entries: dict[str, Any]) -> Values:
    """Values with these flavors."""
    return {"queue": {"flavors": list(entries)}}


def quota(**resources: object) -> Values:
    """Values with this quota of the single flavor; `nvidia__gpu` stands for `nvidia/gpu`."""
    return {"queue": {"quota": {name.replace("__", "/"): q for name, q in resources.items()}}}
