"""The pictures of the report in the documentation, drawn anew.

``PYTHONPATH=tests:cluster .venv/bin/python -m browser.pictures``
"""

from __future__ import annotations

from pathlib import Path

from browser.chromium import browser
from browser.views import VIEWS, opened
from unit.report.archive import archive

from converter.report.page import page

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def main() -> None:
    """One for each view, as high as its window."""
    IMAGES.mkdir(exist_ok=True)
    text = page(archive().model())
    with browser() as running:
        for view in VIEWS:
            with opened(running, text, view) as shown:
                shown.screenshot(path=IMAGES / f"report-{view.name}.png")


if __name__ == "__main__":
    main()
