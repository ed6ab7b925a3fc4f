"""docs/explain.md names every code there is."""

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
SOURCES = CHECKOUT / "converter" / "explain"
# A code is the first argument of a Cause or of a table's row: a word or more with hyphens.
CODE = re.compile(
    r'(?:Cause|_Hindrance|_cause)\(\s*"([a-z-]+)"|^    \("[^"]*", "([a-z-]+)"\),$'
    r'|^        "([a-z-]+)",$|"((?:partly-)?failed)"',
    re.MULTILINE,
)


def test_every_code_is_documented() -> None:
    used = {
        next(filter(None, found))
        for source in SOURCES.glob("*.py")
        for found in CODE.findall(source.read_text())
    }
    document = (CHECKOUT / "docs" / "explain.md").read_text()
    documented = {
        code
        for line in document.splitlines()
        if line.startswith("| `")
        for code in re.findall(r"`([a-z-]+)`", line.split("|")[1])
    }
    assert used - documented == set()
