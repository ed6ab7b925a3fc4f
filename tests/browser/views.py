"""The windows that the report is looked at in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from playwright.sync_api import Browser, Page, Route

ORIGIN = "http://report.test/"


@dataclass(frozen=True)
class View:
    width: int
    height: int
    scheme: Literal["light", "dark"]

    @property
    def name(self) -> str:
        return f"{'phone' if self.width < 600 else 'desktop'}-{self.scheme}"


VIEWS = (
    View(1280, 840, "light"),
    View(1280, 840, "dark"),
    View(360, 780, "light"),
    View(360, 780, "dark"),
)


@contextmanager
def opened(
    browser: Browser, text: str, view: View = VIEWS[0], *, script: bool = True
) -> Iterator[Page]:
    """The page as a browser shows it. A request for anything but the page itself fails."""
    context = browser.new_context(
        viewport={"width": view.width, "height": view.height},
        color_scheme=view.scheme,
        java_script_enabled=script,
        reduced_motion="reduce",
    )
    asked: list[str] = []

    def answer(route: Route) -> None:
        if route.request.url.partition("#")[0] == ORIGIN and not asked:
            asked.append(route.request.url)
            route.fulfill(body=text, content_type="text/html; charset=utf-8")
        else:
            asked.append(route.request.url)
            route.abort()

    context.route("**/*", answer)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(ORIGIN)
    yield page
    context.close()
    assert asked == [ORIGIN]
    assert complaints == []
