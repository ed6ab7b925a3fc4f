"""The page of the report in Debian's Chromium.

Each page is opened by `opened`, which fails where it asks for anything, or complains about
something, such as its own Content-Security-Policy.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from browser.views import VIEWS, View, opened
from playwright.sync_api import Browser, Page
from unit.report.archive import archive
from unit.report.models import empty, hostile, long

from converter.report.model import Model
from converter.report.page import page

PHONE = VIEWS[2]
MODELS: dict[str, Callable[[], Model]] = {
    "archive": lambda: archive().model(),
    "empty": empty,
    "hostile": hostile,
    "long": long,
}
# A widely used set of rules beside that of WCAG 2.2 AA.
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}


def names(shown: Page) -> list[str]:
    """The campaigns that can be seen."""
    found: list[str] = shown.eval_on_selector_all(
        ".card", "all => all.filter(e => e.checkVisibility()).map(e => e.id.slice(2))"
    )
    return found


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
@pytest.mark.parametrize("model", MODELS)
def test_axe_finds_nothing(browser: Browser, model: str, view: View) -> None:
    """With everything that can be opened open."""
    with opened(browser, page(MODELS[model]()), view) as shown:
        shown.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
        found = Axe().run(shown, options=RULES).response["violations"]
        told = [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found]
        assert told == []


@pytest.mark.parametrize("model", MODELS)
def test_a_phone_scrolls_in_one_direction_only(browser: Browser, model: str) -> None:
    with opened(browser, page(MODELS[model]()), PHONE) as shown:
        shown.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true })")
        assert shown.evaluate("document.documentElement.scrollWidth") == 360


def test_an_attack_runs_nothing(browser: Browser) -> None:
    with opened(browser, page(hostile())) as shown:
        assert shown.evaluate("typeof hacked") == "undefined"
        assert shown.locator("img").count() == 0


def test_without_script_everything_is_there_and_phases_can_be_chosen(browser: Browser) -> None:
    model = archive().model()
    with opened(browser, page(model), script=False) as shown:
        # Cards, queue, quota and events: what a reader without a script gets.
        text = shown.locator("main").text_content() or ""
        for card in model.cards:
            assert card.name in text
        assert "112 of 96 in use, 16 of it borrowed, 0 free" in text
        assert "evicted: Preempted" in text
        assert shown.locator("#search").is_hidden()
        shown.locator("#chip-Waiting").click()
        seen = [each for each in shown.locator(".card").all() if each.is_visible()]
        assert len(seen) == 4


def test_search_and_phases_narrow_the_cards(browser: Browser) -> None:
    with opened(browser, page(archive().model())) as shown:
        assert len(names(shown)) == 15
        assert shown.locator("#found").text_content() == ""
        shown.get_by_label("Search").fill("SAFETENSORS exit")
        assert names(shown) == ["map-sheets"]
        assert shown.locator("#found").text_content() == "1 of 15 campaigns shown"
        shown.get_by_label("Search").fill("")
        shown.get_by_role("radio", name="Paused").check()
        assert names(shown) == ["council-minutes"]
        # A link into the queue shows the campaign all the same.
        shown.get_by_role("table").get_by_role("link", name="herbarium").click()
        assert "herbarium" in names(shown)


def test_the_keyboard_reaches_search_phases_and_cards(browser: Browser) -> None:
    reached = []
    with opened(browser, page(archive().model())) as shown:
        for _ in range(12):
            shown.keyboard.press("Tab")
            reached.append(
                shown.evaluate("document.activeElement.id || document.activeElement.hash")
            )
            outline = shown.evaluate(
                "getComputedStyle(document.activeElement.closest('.chip') || "
                "document.activeElement).outlineStyle"
            )
            assert outline == "solid", reached
        assert reached[:2] == ["#campaigns", "#campaigns"]
        assert reached[5:9] == ["show-all", "find", "a-map-sheets", "a-parish-registers"]
        shown.locator("#show-all").focus()
        shown.keyboard.press("ArrowRight")
        assert names(shown) == ["map-sheets"]


def test_it_can_be_printed(browser: Browser) -> None:
    with opened(browser, page(archive().model())) as shown:
        shown.emulate_media(media="print", color_scheme="dark")
        assert shown.locator("nav").is_hidden()
        assert shown.locator(".tools").is_hidden()
        background = shown.evaluate("getComputedStyle(document.body).backgroundColor")
        assert background == "rgb(255, 255, 255)"
        # What is folded on a screen cannot be opened on paper.
        assert "evicted: Preempted" in shown.locator("#events").inner_text()
