"""Files that ship with the package.

In a wheel the schemas lie inside the package; in a checkout they lie at its top, where editors
and other tools expect them.
"""

from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path


def schema_text(name: str) -> str:
    """The JSON schema `name` ("campaign", "pipeline" or "converter") as text."""
    packaged = files("converter") / "schemas"
    checkout = Path(__file__).parents[1] / "schemas"
    directory: Traversable = packaged if packaged.is_dir() else checkout
    return (directory / f"{name}.schema.json").read_text(encoding="utf-8")


def manifest_template(name: str) -> str:
    """The Jinja2 template of a manifest, `name` with its ``.yaml.j2`` ending, as text."""
    return (files("converter") / "manifests" / name).read_text(encoding="utf-8")
