"""What ``scontrol show config`` prints."""

import re
from collections.abc import Mapping
from typing import Final

_SETTING: Final = re.compile(r"^([A-Za-z_]+(?:\[[0-9]+\])?)\s*= ?(.*)$", re.MULTILINE)


def settings_of(text: str) -> Mapping[str, str]:
    """The values by their keys."""
    return {key: value.strip() for key, value in _SETTING.findall(text)}
