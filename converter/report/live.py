"""The page as it is now, read anew every few seconds for as long as somebody looks at it."""

import threading
import time
from typing import Final, Protocol

from converter.errors import CampaignsError
from converter.report.model import Model
from converter.report.page import Live, page
from converter.times import minutes

SECONDS: Final = 5
# How long nobody has asked for the page when nobody looks at it any more.
LOOKING_SECONDS: Final = 30.0
# How long somebody who comes back waits for what is new before they are shown what is old.
PATIENCE_SECONDS: Final = 4.0
# A cluster with a thousand campaigns takes its time, and has others to answer too.
_SHARE_OF_TIME: Final = 4
# After so many reads without news what is shown is old.
_MISSED: Final = 3


class Source(Protocol):
    """What a page is read from, every so many seconds. `asked` is who answers."""

    seconds: float
    asked: str

    def read(self) -> Model:
        """As it is now. Raises CampaignsError where it cannot be read."""
        ...


class Board:
    """One page for all who look. `source` is read in a thread of its own, `first` is what was read
    before. A read that fails leaves what was read before, and says so.
    """

    def __init__(self, source: Source, first: Model) -> None:
        self._source = source
        self._changed = threading.Condition()
        self._model = first
        self._trouble = ""
        self._is_reading = False
        self._read_at = self._looked_at = time.monotonic()
        self._text = ""

    def start(self) -> None:
        """Go on reading, until the program ends."""
        threading.Thread(target=self._follow, daemon=True).start()

    def page(self) -> str:
        """The page, for somebody who looks."""
        with self._changed:
            asked = time.monotonic()
            was_away = asked > self._looked_at + LOOKING_SECONDS
            self._looked_at = asked
            self._changed.notify_all()
            if was_away:
                self._changed.wait_for(lambda: self._read_at > asked, PATIENCE_SECONDS)
            trouble = self._why_old()
            if trouble:
                return page(self._model, Live(SECONDS, trouble))
            if not self._text:
                self._text = page(self._model, Live(SECONDS, reads=round(self._source.seconds)))
            return self._text

    def _why_old(self) -> str:
        age = time.monotonic() - self._read_at
        if self._trouble:
            return f"It was read {minutes(age)} ago, and cannot be read now: {self._trouble}"
        if age <= max(LOOKING_SECONDS, _MISSED * self._source.seconds):
            return ""
        asked = self._source.asked
        why = f"{asked} has not answered since" if self._is_reading else f"{asked} answers slowly"
        return f"It was read {minutes(age)} ago, and {why}."

    def _follow(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._is_looked_at)
                self._is_reading = True
            began = time.monotonic()
            try:
                model, trouble = self._source.read(), ""
            except CampaignsError as error:
                model, trouble = None, str(error)
            except Exception as error:
                # Nobody sees how a thread ends: the page would stay old and not say why.
                model, trouble = None, f"{type(error).__name__}: {error}"
            with self._changed:
                self._trouble, self._is_reading = trouble, False
                if model is not None:
                    self._model, self._text = model, ""
                    self._read_at = time.monotonic()
                self._changed.notify_all()
            took = time.monotonic() - began
            time.sleep(max(self._source.seconds, _SHARE_OF_TIME * took))

    def _is_looked_at(self) -> bool:
        return time.monotonic() <= self._looked_at + LOOKING_SECONDS
