"""One browser for the tests of a file.

Playwright runs an event loop in the thread that it was started in for as long as it is there; a
test that runs a loop of its own cannot be in the same process meanwhile. So it ends with the file.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser.chromium import browser as started
from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with started() as running:
        yield running
