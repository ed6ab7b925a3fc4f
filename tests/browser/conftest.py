"""One browser for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser.chromium import browser as started
from playwright.sync_api import Browser


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with started() as running:
        yield running
