"""The rules of a campaigns repository: one function a rule, each registered with its code.

Nothing here reads a file or knows a cluster; everything is a function of what was loaded.
"""

from collections.abc import Mapping
from typing import Final

from converter import load

# A rule registers itself when its module is imported.
from converter.checks import (  # noqa: F401
    campaign_names,
    campaigns,
    environment,
    flavors,
    pipelines,
    quota,
    settings,
    sizes,
    volumes,
    warmups,
)
from converter.checks.registry import findings, registered_rules
from converter.load.result import LoadResult
from converter.problem import Problem
from converter.rule import Rule

__all__ = ["ALL_RULES", "check"]

ALL_RULES: Final[Mapping[str, Rule]] = {
    rule.code: rule
    for rule in sorted((*load.RULES, *registered_rules()), key=lambda rule: rule.code)
}


def check(loaded: LoadResult) -> tuple[Problem, ...]:
    """Every problem of a repository, once each, by file, line and column."""
    return tuple(sorted({*loaded.problems, *findings(loaded)}))
