"""The page as it is now, read anew every few seconds for as long as somebody looks at it."""

import threading
import time
from collections.abc import Callable
from typing import Final

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


class Board:
    """One page for all who look. `read` is called in a thread of its own, `first` is its first
    answer. A read that fails leaves what was read before, and says so.
    """

    def __init__(self, read: Callable[[], Model], first: Model, seconds: float = SECONDS) -> None:
        self._read = read
        self._seconds = seconds
        self._changed = threading.Condition()
        self._model = first
        self._trouble = ""
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
                self._text = page(self._model, Live(SECONDS))
            return self._text

    def _why_old(self) -> str:
        age = time.monotonic() - self._read_at
        if self._trouble:
            return f"It was read {minutes(age)} ago, and cannot be read now: {self._trouble}"
        if age > LOOKING_SECONDS:
            return f"It was read {minutes(age)} ago, and the API server has not answered since."
        return ""

    def _follow(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(self._is_looked_at)
            began = time.monotonic()
            try:
                model, trouble = self._read(), ""
            except CampaignsError as error:
                model, trouble = None, str(error)
            except Exception as error:
                # Nobody sees how a thread ends: the page would stay old and not say why.
                model, trouble = None, f"{type(error).__name__}: {error}"
            with self._changed:
                self._trouble = trouble
                if model is not None:
                    self._model, self._text = model, ""
                    self._read_at = time.monotonic()
                self._changed.notify_all()
            time.sleep(max(self._seconds, _SHARE_OF_TIME * (time.monotonic() - began)))

    def _is_looked_at(self) -> bool:
        return time.monotonic() <= self._looked_at + LOOKING_SECONDS
