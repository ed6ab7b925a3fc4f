"""Digests of what a file says, free of how it is spelt.

A digest goes into an annotation and is compared with one that an earlier release wrote, so the
form must not change: a new member is one that is left out while it is empty.
"""

import hashlib
import json
from typing import Any


def digest(**members: Any) -> str:
    """sha256, in hex, of the members that are not empty, as JSON with sorted keys.

    Only whole members are left out; what is empty inside one is part of it. Raises TypeError for a
    value that JSON cannot hold.
    """
    present = {key: value for key, value in members.items() if value is not None and value != ""}
    present = {
        key: value
        for key, value in present.items()
        if not hasattr(value, "__len__") or len(value) > 0
    }
    text = json.dumps(present, sort_keys=True, separators=(",", ":"), default=dict)
    return hashlib.sha256(text.encode()).hexdigest()
