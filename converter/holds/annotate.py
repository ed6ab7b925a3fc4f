"""The hold's annotations on an object."""

from collections.abc import Mapping
from typing import Any

from converter.cluster.objects import Object
from converter.holds.mark import ANNOTATIONS, Mark, annotations_of


def annotations(live: Object) -> Mapping[str, str]:
    """The annotations of an object."""
    found: Mapping[str, str] = live["metadata"].get("annotations") or {}
    return found


def annotated(live: Object, mark: Mark | None, **others: str) -> dict[str, Any]:
    """The object with just the annotations of this hold, and these others; a shallow copy."""
    kept = {key: value for key, value in annotations(live).items() if key not in ANNOTATIONS}
    held = annotations_of(mark) if mark is not None else {}
    metadata = {**live["metadata"], "annotations": kept | held | others}
    return {**live, "metadata": metadata}
