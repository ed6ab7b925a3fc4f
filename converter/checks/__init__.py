"""The rules of a campaigns repository: one function a rule, each registered with its code.

Nothing here reads a file or knows a cluster; everything is a function of what was loaded.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from converter import load

# A rule registers itself when its module is imported.
from converter.checks import (  # noqa: F401
    backends,
    campaign_names,
    campaigns,
    environment,
    flavors,
    history,
    history_pods,
    limits,
    pipelines,
    quota,
    rendered,
    settings,
    sizes,
    slurm,
    text_size,
    volumes,
    warmups,
)
from converter.checks.ignores import overruled
from converter.checks.registry import changes, findings, history_rules, looked_at, registered_rules
from converter.load.earlier import Earlier
from converter.load.result import LoadResult
from converter.load.rules import BAD_IGNORE, UNUSED_IGNORE
from converter.problem import Problem
from converter.rule import Rule

__all__ = ["ALL_RULES", "check"]

ALL_RULES: Final[Mapping[str, Rule]] = {
    rule.code: rule
    for rule in sorted(
        (
            *load.RULES,
            UNUSED_IGNORE,
            BAD_IGNORE,
            *registered_rules(),
            *history_rules(),
            *rendered.RULES,
        ),
        key=lambda rule: rule.code,
    )
}


def check(
    loaded: LoadResult,
    left_out: tuple[str, ...] = (),
    earlier: Earlier | None = None,
    known: Iterable[Problem] | None = None,
) -> tuple[Problem, ...]:
    """Every problem of a repository, once each, by file, line and column.

    Without what comments in the files ignore. That such a comment is of no use is not said of the
    rules whose codes begin with one of `left_out`, since nobody is shown what they find. With
    `earlier` the rules that compare with a commit are among them. `known` is what `findings` finds,
    from who has asked it already.
    """
    found = {*loaded.problems, *(findings(loaded) if known is None else known)}
    if earlier is not None:
        found.update(changes(loaded, earlier))
    shown = {code for code in looked_at(loaded) if not code.startswith(left_out)}
    return tuple(sorted(overruled(found, loaded, ALL_RULES, unused=shown)))
