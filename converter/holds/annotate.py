"""The hold's annotations on an object."""

from collections.abc import Mapping
from typing import Any

from converter.cluster.objects import Object
from converter.holds.history import Entry, with_entry
from converter.holds.mark import ANNOTATIONS, Mark, annotations_of
from converter.names import HOLD_HISTORY_ANNOTATION


def annotations(live: Object) -> Mapping[str, str]:
    """The annotations of an object."""
    found: Mapping[str, str] = live["metadata"].get("annotations") or {}
    return found


def annotated(
    live: Object, mark: Mark | None, entry: Entry | None = None, **others: str
) -> dict[str, Any]:
    """The object with just the annotations of this hold, and these others; a shallow copy.

    `entry` is added to the history of its holds.
    """
    present = annotations(live)
    kept = {key: value for key, value in present.items() if key not in ANNOTATIONS}
    held = annotations_of(mark) if mark is not None else {}
    if entry is not None:
        others[HOLD_HISTORY_ANNOTATION] = with_entry(
            present.get(HOLD_HISTORY_ANNOTATION, ""), entry
        )
    metadata = {**live["metadata"], "annotations": kept | held | others}
    return {**live, "metadata": metadata}
