"""The page as a text: what it may have, and what it must not."""

from __future__ import annotations

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest
from unit.report.archive import SECRET, archive
from unit.report.models import LONG, empty, hostile, long, thousand

from converter.report.model import PHASES, Model
from converter.report.page import Live, page

MODELS = {
    "archive": lambda: archive().model(),
    "empty": empty,
    "hostile": hostile,
    "long": long,
    "thousand": thousand,
}
LOADS = ("src", "srcset", "poster", "data", "action", "formaction", "background", "style")


class Reader(HTMLParser):
    """What a browser finds: elements with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str, str]] = []
        self.text = ""
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.inside = tag
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        if self.inside not in ("style", "script"):
            self.text += data


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_page_loads_and_runs_nothing_but_its_own(make: Callable[[], Model]) -> None:
    text = page(make())
    found = Reader(text)
    assert text.startswith("<!DOCTYPE html>")
    assert (found.tags["script"], found.tags["style"], found.tags["img"]) == (1, 1, 0)
    assert [each for each in found.attributes if each[1].startswith("on")] == []
    assert [each for each in found.attributes if each[1] in LOADS] == []
    links = [value for tag, name, value in found.attributes if name == "href"]
    assert [each for each in links if not each.startswith(("#", "data:image/svg+xml,"))] == []


@pytest.mark.parametrize("live", [None, Live(5)], ids=["file", "served"])
def test_the_policy_names_the_style_and_the_script(live: Live | None) -> None:
    text = page(archive().model(), live)
    policy = next(v for t, n, v in Reader(text).attributes if n == "content" and "-src" in v)
    for kind in ("style", "script"):
        found = re.search(rf"<{kind}>(.*)</{kind}>", text, re.DOTALL)
        assert found
        digest = b64encode(sha256(found[1].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; ")
    assert ("connect-src 'self'" in policy) is (live is not None)


def test_an_attack_is_a_text_like_any_other() -> None:
    ordinary, attacked = Reader(page(archive().model())), Reader(page(hostile()))
    assert attacked.tags["li"] == ordinary.tags["li"]
    assert set(attacked.tags) == set(ordinary.tags)
    assert {each[:2] for each in attacked.attributes} <= {each[:2] for each in ordinary.attributes}
    assert "<script>hacked=1</script>" in attacked.text
    assert "{{ 7*7 }}" in attacked.text
    assert "\u202e" not in attacked.text
    assert "\x1b" not in attacked.text


def test_environment_values_are_not_on_it() -> None:
    assert SECRET not in page(archive().model())


def test_long_names_are_whole() -> None:
    assert page(long()).count(f"letters-1890-1914{LONG}"[:63]) > 3


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_an_id_is_there_once_and_what_refers_to_it_finds_it(make: Callable[[], Model]) -> None:
    found = Reader(page(make()))
    ids = Counter(value for _, name, value in found.attributes if name == "id")
    assert [each for each, number in ids.items() if number > 1] == []
    named = {value for _, name, value in found.attributes if name == "aria-labelledby"}
    named |= {v for t, n, v in found.attributes if (t, n) == ("label", "for")}
    assert named - set(ids) == set()


def test_a_thousand_campaigns_are_less_than_3_mb() -> None:
    text = page(thousand())
    assert text.count('<li class="card"') == 1000
    assert len(text.encode()) < 3_000_000


def test_there_is_a_filter_and_a_shape_for_every_phase() -> None:
    text = page(archive().model())
    for phase in PHASES:
        assert f'id="show-{phase}"' in text
        assert f'<symbol id="i-{phase}"' in text
        assert f"#show-{phase}:checked" in text
        assert f".p-{phase} {{" in text


def test_nothing_is_said_in_words() -> None:
    text = Reader(page(empty())).text
    assert "There is no campaign in the repository" in text
    assert "Nothing waits in LocalQueue gpu" in text
    assert "The quota is not known: it was not read" in text
    assert "Nothing has happened yet" in text


def test_only_a_served_page_asks_again() -> None:
    model = archive().model()
    assert 'http-equiv="refresh"' not in page(model)
    assert "data-every" not in page(model).partition("<style>")[0]
    served = page(model, Live(5, "It was read 20 seconds ago: <no answer>"))
    assert '<html lang="en" data-every="5">' in served
    assert '<noscript><meta http-equiv="refresh" content="10"></noscript>' in served
    assert "It was read 20 seconds ago: &lt;no answer&gt;" in served


def test_commands_and_times_in_a_sentence_are_marked_up() -> None:
    model = archive().model()
    text = page(model)
    assert "<code>campaigns retry map-sheets</code> writes a campaign file" in text
    assert "It has ended at 2026-03-11 02:00 UTC: 18 of 18 volumes failed" in text
    odd = replace(model.cards[0].causes[0], what="an odd ` backtick <b>")
    card = replace(model.cards[0], causes=(odd,))
    assert "An odd ` backtick &lt;b&gt;" in page(replace(model, cards=(card,)))
