"""Reads the cluster for a page, once or again and again."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from converter import __version__
from converter.capabilities import CAPABILITIES
from converter.cluster.client import Client
from converter.explain.facts import facts_of
from converter.explain.reading import CONCURRENCY, read_for_explain
from converter.explain.rules import causes
from converter.model import EMPTY, Repo
from converter.observe.look import look
from converter.observe.refusal import Refusal
from converter.observe.snapshot import Snapshot
from converter.observe.status import Status
from converter.reconcile.queue_chain import read_chain
from converter.report.build import model_of
from converter.report.live import SECONDS
from converter.report.model import About, Model

# Why apply would not create a campaign is found by dry runs, which cost as much as an apply.
REFUSALS_SECONDS: Final = 120.0


@dataclass(slots=True)
class Reading:
    """The campaigns of a repository. `sources` gives it, with its name, and the commit that is
    checked out, as they are when it is called.
    """

    client: Client
    sources: Callable[[], tuple[Repo, str]]
    seconds: float = SECONDS
    asked: str = "the API server"
    _refusals: Mapping[str, Refusal | None] = field(default_factory=lambda: EMPTY)
    _refusals_at: float = float("-inf")

    def read(self) -> Model:
        """Raises `ApiError` and `ClusterUnavailable` where Jobs, records or Workloads cannot be
        listed, and what `sources` raises; what else may not be read is named on the page.
        """
        repo, commit = self.sources()
        settings = repo.settings
        snapshot, found = look(self.client, repo)
        snapshot = self._with_chain(repo, self._explained(repo, snapshot, found))
        facts = facts_of(repo, snapshot, found)
        why = {name: causes(each) for name, each in facts.items()}
        about = About(settings.repository, commit, __version__, snapshot.now)
        return model_of(about, settings, snapshot, facts, why)

    def _explained(self, repo: Repo, snapshot: Snapshot, found: Sequence[Status]) -> Snapshot:
        now = time.monotonic()
        is_due = now >= self._refusals_at + REFUSALS_SECONDS
        explained = read_for_explain(
            self.client, repo, snapshot, found, campaigns=None, refusals=is_due
        )
        if is_due:
            self._refusals, self._refusals_at = explained.refusals, now
        return replace(explained, refusals=self._refusals)

    def _with_chain(self, repo: Repo, snapshot: Snapshot) -> Snapshot:
        """The quota is shown whether or not something waits for it."""
        settings = repo.settings
        if snapshot.chain is not None or not CAPABILITIES[settings.backend].flavors:
            return snapshot
        chain = read_chain(self.client, settings.namespace, settings.queue, (), CONCURRENCY)
        return replace(snapshot, chain=chain)
