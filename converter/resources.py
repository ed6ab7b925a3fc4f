"""Files that ship with the package.

In a wheel the schemas lie inside the package; in a checkout they lie at its top, where editors
and other tools expect them.
"""

from functools import cache
from pathlib import Path
from typing import Final

# Not importlib.resources, whose import takes a good part of the time that `validate` has.
_PACKAGE: Final = Path(__file__).parent


def schema_text(name: str) -> str:
    """The JSON schema `name` ("campaign", "pipeline" or "converter") as text."""
    packaged, checkout = _PACKAGE / "schemas", _PACKAGE.parent / "schemas"
    directory = packaged if packaged.is_dir() else checkout
    return (directory / f"{name}.schema.json").read_text(encoding="utf-8")


@cache
def manifest_template(name: str) -> str:
    """The Jinja2 template of a manifest, `name` with its ``.yaml.j2`` ending, as text."""
    return (_PACKAGE / "manifests" / name).read_text(encoding="utf-8")


@cache
def task_script() -> str:
    """The program that every task of a job array runs, as text."""
    return (_PACKAGE / "render" / "task.sh").read_text(encoding="utf-8")
