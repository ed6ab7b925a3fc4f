"""docs/rules.md is what the rules say."""

from pathlib import Path

from converter.checks.docs import page

PAGE = Path(__file__).parents[3] / "docs" / "rules.md"


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), (
        "run: python -m converter.checks.docs > docs/rules.md"
    )
