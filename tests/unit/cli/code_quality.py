"""GitLab's Code Quality report as its documentation describes it.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format. GitLab ignores an
entry that another has the fingerprint of.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from jsonschema import Draft202012Validator

SCHEMA: Final = Draft202012Validator(
    {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["description", "check_name", "fingerprint", "severity", "location"],
            "properties": {
                "description": {"type": "string", "minLength": 1},
                "check_name": {"type": "string", "pattern": "^[A-Za-z0-9-]+$"},
                "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
                "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
                "location": {
                    "type": "object",
                    "required": ["path", "lines"],
                    "properties": {
                        "path": {"type": "string", "minLength": 1, "not": {"pattern": r"^\./"}},
                        "lines": {
                            "type": "object",
                            "required": ["begin"],
                            "properties": {"begin": {"type": "integer", "minimum": 1}},
                            "additionalProperties": False,
                        },
                    },
                    "additionalProperties": False,
                },
            },
            "additionalProperties": False,
        },
    }
)


def entries(report: str) -> list[dict[str, Any]]:
    """The entries of a report that is valid."""
    found = json.loads(report)
    assert [error.message for error in SCHEMA.iter_errors(found)] == []
    fingerprints = [entry["fingerprint"] for entry in found]
    assert len(set(fingerprints)) == len(fingerprints)
    assert report.endswith("]\n")
    return list(found)


def places(found: Sequence[dict[str, Any]]) -> list[tuple[str, str, int]]:
    """The check, the file and the line of each."""
    return [
        (each["check_name"], each["location"]["path"], each["location"]["lines"]["begin"])
        for each in found
    ]
