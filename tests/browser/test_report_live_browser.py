"""A served page in Debian's Chromium: news come without taking anything from who reads."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from unit.report.archive import archive

from converter.report.model import Model
from converter.report.page import Live, page
from converter.report.serve import Server


@dataclass
class Served:
    """What the server shows, and the page that a browser has of it."""

    model: Model
    server: Server

    def change(self, name: str, **members: Any) -> None:
        cards = [replace(c, **members) if c.name == name else c for c in self.model.cards]
        self.model = replace(self.model, cards=tuple(cards))


@pytest.fixture
def served() -> Iterator[Served]:
    made = Served(archive().model(), Server(0, lambda: page(made.model, Live(5))))
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


@contextmanager
def shown(browser: Browser, url: str, *, script: bool = True) -> Iterator[Page]:
    """The page with a clock that the test moves on."""
    context = browser.new_context(
        viewport={"width": 1440, "height": 900}, java_script_enabled=script
    )
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    if script:
        opened.clock.install()
    opened.goto(url)
    yield opened
    context.close()
    assert errors == []


def test_news_leave_focus_place_search_and_what_is_open(browser: Browser, served: Served) -> None:
    with shown(browser, served.server.place.url) as opened:
        opened.get_by_role("radio", name="Waiting").check()
        details = opened.locator("#o-estate-inventories")
        details.locator("summary").click()
        opened.evaluate("scrollTo(0, 300)")
        top = opened.evaluate("scrollY")
        served.change("court-records", done=17)
        served.change("estate-inventories", done=99)
        opened.clock.run_for(5_500)
        expect(opened.locator("#c-court-records .count")).to_contain_text("17 of 400 volumes done")
        expect(opened.locator("#c-estate-inventories .count")).to_contain_text("99 of 150")
        assert details.get_attribute("open") is not None
        assert opened.evaluate("document.activeElement.id") == "os-estate-inventories"
        assert opened.evaluate("scrollY") == top
        assert opened.get_by_role("radio", name="Waiting").is_checked()
        assert opened.locator("#c-newspapers-1848").is_hidden()


def test_a_campaign_that_is_in_another_phase_gets_its_place(
    browser: Browser, served: Served
) -> None:
    with shown(browser, served.server.place.url) as opened:
        kept = opened.locator("#c-herbarium").element_handle()
        first = served.model.cards[-1]
        failed = replace(first, phase="Failed")
        counts = tuple(
            (phase, count + 5 if phase == "Failed" else count)
            for phase, count in served.model.counts
        )
        served.model = replace(
            served.model, cards=(failed, *served.model.cards[:-2]), counts=counts
        )
        opened.clock.run_for(5_500)
        expect(opened.locator("#n-Failed")).to_have_text("6")
        names = opened.eval_on_selector_all(".card", "all => all.map(e => e.id)")
        assert names == [f"c-{card.name}" for card in served.model.cards]
        expect(opened.locator(f"#c-{first.name} .phase")).to_have_text("Failed")
        # What did not change is still the same element.
        assert kept.evaluate("e => e === document.getElementById('c-herbarium')")


def test_a_server_that_is_gone_is_told_and_may_come_back(browser: Browser, served: Served) -> None:
    with shown(browser, served.server.place.url) as opened:
        opened.route("**/*", lambda route: route.abort())
        opened.clock.run_for(5_500)
        expect(opened.locator("#lost")).to_contain_text("what is shown is of 2026-03-12 09:30 UTC")
        opened.unroute("**/*")
        opened.clock.run_for(5_500)
        expect(opened.locator("#lost")).to_have_count(0)


def test_without_script_the_browser_loads_it_again(browser: Browser, served: Served) -> None:
    with shown(browser, served.server.place.url, script=False) as opened:
        served.change("court-records", done=17)
        count = opened.locator("#c-court-records .count")
        expect(count).to_contain_text("17 of 400 volumes done", timeout=20_000)
