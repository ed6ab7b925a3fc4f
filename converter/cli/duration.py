"""Durations on the command line, as kubectl writes them: 30s, 10m, 2h, 1h30m."""

import re
from typing import Final

import click

DURATION: Final = re.compile(
    r"(?=[0-9])(?:(?P<h>[0-9]{1,6})h)?(?:(?P<m>[0-9]{1,6})m)?(?:(?P<s>[0-9]{1,6})s)?\Z"
)
SECONDS: Final = {"h": 3_600, "m": 60, "s": 1}


def seconds_of(text: str) -> int:
    """A duration in seconds. Raises ValueError where it is none, or not longer than nothing."""
    match = DURATION.match(text)
    if match is None:
        raise ValueError(f"{text!r} is not a duration: write for example 30s, 10m, 2h or 1h30m")
    seconds = sum(int(match[unit] or 0) * size for unit, size in SECONDS.items())
    if not seconds:
        raise ValueError(f"{text!r} is no time at all: write 1s or more")
    return seconds


def text_of(seconds: int) -> str:
    """Seconds as a duration, without what is 0: ``1h30m``."""
    parts = []
    for unit, size in SECONDS.items():
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def read_duration(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """The callback of an option whose value is a duration; the command gets whole seconds."""
    if value is None:
        return None
    try:
        return seconds_of(value)
    except ValueError as error:
        raise click.BadParameter(str(error), ctx, param) from error
