"""The text of a page: one file, which loads nothing and runs nothing but its own script.

Every value goes into the page as text. The Content-Security-Policy names the style and the script
by their digests, so that a browser would not run markup that had come in some other way.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Undefined
from markupsafe import Markup, escape

from converter.report.model import Model, phase_words
from converter.wording import said

LONGEST: Final = 600
_TEMPLATES: Final = Path(__file__).with_name("templates")
_COMMENTS: Final = re.compile(r"/\*.*?\*/\s*", re.DOTALL)
_TIMES: Final = re.compile(r"(?P<day>\d{4}-\d\d-\d\d)T(?P<time>\d\d:\d\d):\d\dZ")
_BLANKS: Final = re.compile(r"\n\s*")


@dataclass(frozen=True, slots=True)
class Live:
    """A page that is served: how many seconds until it asks for news, and what is wrong.

    `trouble` says why what is shown is no longer new, and is empty where it is. `reads` is after
    how many seconds there may be news, where that is longer.
    """

    seconds: int
    trouble: str = ""
    reads: int = 0


def page(model: Model, live: Live | None = None) -> str:
    """The whole document."""
    return (
        _environment()
        .get_template("page.html.j2")
        .render(model=model, live=live, csp=policy(live), style=_style(), script=_script())
    )


def policy(live: Live | None) -> str:
    """The Content-Security-Policy of a page; only one that is served may ask its server."""
    return "; ".join(
        (
            "default-src 'none'",
            f"style-src '{_digest(_style())}'",
            f"script-src '{_digest(_script())}'",
            "img-src data:",
            *(("connect-src 'self'",) if live else ()),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


@cache
def _style() -> Markup:
    return Markup(_BLANKS.sub("\n", _COMMENTS.sub("", _read("style.css"))))  # noqa: S704


@cache
def _script() -> Markup:
    return Markup(_read("script.js"))  # noqa: S704


def _read(name: str) -> str:
    return (_TEMPLATES / name).read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["prose"] = _prose
    environment.filters["number"] = "{:,}".format
    environment.filters["phase_words"] = phase_words
    return environment


def _prose(text: str) -> Markup:
    """A sentence of ours: with a capital, commands between backticks as such, short times."""
    plain = _TIMES.sub(r"\g<day> \g<time> UTC", said(text, LONGEST))
    plain = plain[:1].upper() + plain[1:]
    pieces = plain.split("`")
    if len(pieces) % 2 == 0:
        return escape(plain)
    code = Markup("<code>{}</code>")
    return Markup().join(
        code.format(piece) if number % 2 else escape(piece) for number, piece in enumerate(pieces)
    )


def _shown(value: Any) -> Any:
    """A text without what changes how others are read: control characters and turned direction."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return said(value, LONGEST)
    if isinstance(value, Undefined):
        return str(value)
    return value
