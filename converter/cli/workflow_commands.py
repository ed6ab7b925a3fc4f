"""Workflow commands: lines that GitHub Actions turns into annotations of files.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions; the escapes are
those of its toolkit (``escapeData`` and ``escapeProperty`` in packages/core/src/command.ts).
"""

from collections.abc import Mapping


def workflow_command(level: str, message: str, properties: Mapping[str, str]) -> str:
    """One line. `level` is ``error``, ``warning`` or ``notice``; empty properties are left out."""
    listed = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value)
    return f"::{level}{' ' if listed else ''}{listed}::{_data(message)}"


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
