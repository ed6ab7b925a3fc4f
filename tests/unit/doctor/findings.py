"""Findings as the tests look at them."""

from converter.doctor.finding import Finding
from converter.reconcile.queue_chain import Unknown

UNREAD = Unknown("no answer")


def holds(finding: Finding, status: str, *words: str) -> None:
    """A finding of this status that says so, with a remedy exactly where there is one to give."""
    assert finding.status == status
    assert bool(finding.remedy) is (status != "ok")
    for word in words:
        assert word in f"{finding.found} -> {finding.remedy}"
