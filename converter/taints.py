"""Which pods a node's taints keep away, as Kubernetes and Kueue both decide it."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

_REPELLING: Final = ("NoSchedule", "NoExecute")


def repels(taint: Mapping[str, str], tolerations: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a taint keeps away a pod with these tolerations; PreferNoSchedule never does."""
    return taint["effect"] in _REPELLING and not any(
        _tolerates(toleration, taint) for toleration in tolerations
    )


def spelt_taint(taint: Mapping[str, str]) -> str:
    """As kubectl spells a taint: ``key=value:effect``."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def _tolerates(toleration: Mapping[str, Any], taint: Mapping[str, str]) -> bool:
    """``Toleration.ToleratesTaint``; without a key or an effect a toleration means all of them."""
    if (toleration.get("key") or taint["key"]) != taint["key"]:
        return False
    if (toleration.get("effect") or taint["effect"]) != taint["effect"]:
        return False
    if toleration.get("operator") == "Exists":
        return True
    return bool(toleration.get("value", "") == taint.get("value", ""))
