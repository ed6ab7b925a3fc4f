"""Empties the rules of `campaigns validate`, one at a time, and counts the tests that notice.

    .venv/bin/python tests/emptied_rules.py [CODE ...]

The tests are those of the rules, of loading and of the corpus. A first run notes which rules find
something in which test: only these tests can notice that a rule finds nothing, and they run again
with that rule empty, in a process of its own (this module is then a plugin of pytest). The checkout
is not changed. Ends with code 1 when no test notices. Takes about five minutes, so it is no part of
`make test`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[1]
# The rule that is empty in this process, and the files with the tests to run and with the results.
EMPTIED = "CAMPAIGNS_EMPTIED_RULE"
CHOSEN = "CAMPAIGNS_EMPTIED_TESTS"
RESULTS = "CAMPAIGNS_EMPTIED_RESULTS"

TESTS = ("tests/unit/checks", "tests/unit/load", "tests/unit/corpus")
# Random examples, which may notice or not. What commands in processes of their own say is not
# noted, so that the tests of these do not run again.
LEFT_OUT = (
    "--ignore=tests/unit/load/test_load_fuzz.py",
    "--ignore=tests/unit/load/test_load_schemas.py",
    "--ignore=tests/unit/load/test_schema_equals_loader.py",
    "--deselect=tests/unit/checks/test_checks_rendered.py"
    "::test_what_the_other_rules_let_through_a_cluster_takes",
)
QUIET = ("-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-n", "0")

Find = Callable[..., Iterable[Any]]


@dataclass
class Results:
    """The tests that failed, and those in which a rule found something, by its code."""

    failed: set[str] = field(default_factory=set)
    found: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


results = Results()
running = ""


def pytest_configure() -> None:
    """Change the rules before any test is imported."""
    emptied = os.environ[EMPTIED]
    _change(lambda code: emptied == code)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    chosen = set(json.loads(Path(os.environ[CHOSEN]).read_text()))
    items[:] = [item for item in items if not chosen or item.nodeid in chosen]


def pytest_runtest_logstart(nodeid: str) -> None:
    global running
    running = nodeid


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        results.failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    found = {code: sorted(tests) for code, tests in results.found.items()}
    written = {"failed": sorted(results.failed), "found": found}
    Path(os.environ[RESULTS]).write_text(json.dumps(written))


def _change(is_emptied: Callable[[str], bool]) -> None:
    """Let emptied rules find nothing in this process, and note what the others find."""
    from converter import checks
    from converter.checks import registry, rendered
    from converter.load import repository

    def changed(find: Find, code_of: Callable[[Any], str]) -> Find:
        def found(*arguments: Any, **named: Any) -> Iterator[Any]:
            for each in find(*arguments, **named):
                if not is_emptied(code_of(each)):
                    results.found[code_of(each)].add(running)
                    yield each

        return found

    for rules in (registry._FILES_CHECKS, registry._KNOWN_CHECKS, registry._HISTORY_CHECKS):
        listed: list[Any] = rules
        listed[:] = [(rule, changed(check, _always(rule.code))) for rule, check in listed]
    # What is no function of its own: rules of loading, of comments and of rendered objects.
    loading: Any = repository
    commented: Any = checks
    objects: Any = rendered
    loaded = changed(loading._load, lambda mistake: mistake.code)
    loading._load = lambda *arguments: list(loaded(*arguments))
    commented.overruled = changed(commented.overruled, lambda problem: problem.code)
    objects._findings = changed(objects._findings, lambda finding: finding[0].code)


def _always(code: str) -> Callable[[Any], str]:
    return lambda _: code


def run(emptied: str = "", tests: Iterable[str] = ()) -> Results:
    """The results of these tests, or of all, with one rule empty or none."""
    chosen = list(tests)
    with tempfile.TemporaryDirectory() as directory:
        asked, answered = Path(directory, "tests"), Path(directory, "results")
        asked.write_text(json.dumps(chosen))
        files = sorted({test.partition("::")[0] for test in chosen}) or TESTS
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *QUIET, "-p", "emptied_rules", *LEFT_OUT, *files],
            cwd=CHECKOUT,
            env={
                **os.environ,
                "PYTHONPATH": "tests",
                EMPTIED: emptied,
                CHOSEN: str(asked),
                RESULTS: str(answered),
            },
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise SystemExit(f"{emptied}: pytest ended with {done.returncode}: {done.stdout}")
        read = json.loads(answered.read_text())
    found = defaultdict(set, {code: set(names) for code, names in read["found"].items()})
    return Results(set(read["failed"]), found)


def main(chosen: list[str]) -> int:
    """Empty the rules of these codes, or all."""
    sys.path.insert(0, str(CHECKOUT))
    from converter.checks import ALL_RULES

    first = run()
    for name in sorted(first.failed):
        print(f"fails all the same: {name}")

    def noticed(code: str) -> int:
        tests = first.found[code] - first.failed
        return len(run(code, tests).failed) if tests else 0

    codes = chosen or list(ALL_RULES)
    unnoticed = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for code, broken in zip(codes, pool.map(noticed, codes), strict=True):
            unnoticed += not broken
            print(f"{code} {ALL_RULES[code].name:32} {broken or 'NONE'}", flush=True)
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
