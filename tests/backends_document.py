"""docs/backends.md: the table that is made from the code, and the Roles that tests apply."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import yaml

from converter.capabilities import CAPABILITIES, Capabilities
from converter.model import Backend

DOCUMENT: Final = Path(__file__).parents[1] / "docs" / "backends.md"
# Set, the test writes the table that it would compare.
UPDATE: Final = "CAMPAIGNS_UPDATE_DOCS"
ROWS: Final = {
    "kubernetes": "a campaign is a Job of a Kubernetes cluster, with Secrets, claims and warm-ups",
    "queue": "campaigns wait in a queue, named by `queue`",
    "partial_admission": "starts with fewer pods than the window (`min_window`)",
    "flavors": "knows kinds of nodes and their quota, so that apply foresees what never fits",
    "position": "tells the place in the queue",
    "execution_time": "stops what has run for too long (`max_execution_seconds`)",
    "reactivates": "what the queue itself stopped is started again by apply (`reactivate`)",
    "evicts": "a pause ends what runs; else that runs to its end, and nothing else starts",
    "live_window": "the `window` of what runs can be changed",
}
HEAD: Final = "\n## What each can do\n\n"
SECTIONS: Final = {
    Backend.KOORD_QUEUE: "### Rights for Koord-Queue",
    Backend.NONE: "### Rights for none",
}


def table() -> str:
    """A row for each capability, a column for each backend."""
    fields = Capabilities.__dataclass_fields__
    head = ["| | " + " | ".join(f"`{each}`" for each in CAPABILITIES) + " |"]
    head.append("| --- |" + " --- |" * len(CAPABILITIES))
    rows = [
        f"| {ROWS[name]} | "
        + " | ".join("yes" if getattr(able, name) else "no" for able in CAPABILITIES.values())
        + " |"
        for name in fields
    ]
    return "\n".join([*head, *rows])


def written_table() -> str:
    """The one in the document."""
    return DOCUMENT.read_text().partition(HEAD)[2].partition("\n\n")[0]


def write_table() -> None:
    """Put the one that is made into the document."""
    before, head, after = DOCUMENT.read_text().partition(HEAD)
    rest = after.partition("\n\n")[2]
    DOCUMENT.write_text(f"{before}{head}{table()}\n\n{rest}")


def roles(backend: Backend) -> dict[str, list[dict[str, Any]]]:
    """The rules of each Role of a backend: apply, viewer and holder."""
    section = DOCUMENT.read_text().partition(f"{SECTIONS[backend]}\n")[2]
    block = re.search(r"```yaml\n(.*?)```", section, re.DOTALL)
    assert block is not None
    documents = list(yaml.safe_load_all(block[1]))
    assert {each["kind"] for each in documents} == {"Role"}
    return {
        each["metadata"]["name"].removeprefix("campaigns-"): each["rules"] for each in documents
    }
