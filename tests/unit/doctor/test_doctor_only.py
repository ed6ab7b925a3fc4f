"""Which findings a choice of groups leaves, and when they fail a strict check."""

import pytest

from converter.doctor.finding import Check, Finding, Group, exit_code, of_groups

QUEUE = Check(Group.QUEUE, "queue").ok("it is there")
QUOTA = Check(Group.QUEUE, "quota").warning("it differs", "write it")
SERVER = Check(Group.SERVER, "version").ok("v1.35")
AWAY = Check(Group.SERVER, "reachable").fault("no answer", "start it")
LEASE = Check(Group.APPLY, "lease").warning("it is held", "wait")
FILES = Check(Group.REPOSITORY, "files").fault("a mistake", "correct it")
UNREAD = Check(Group.NAMESPACE, "settings").unknown("not checked", "correct converter.yaml")


@pytest.mark.parametrize(
    ("findings", "groups", "left"),
    [
        ((SERVER, QUEUE, QUOTA, LEASE, FILES), [Group.QUEUE], (QUEUE, QUOTA)),
        ((SERVER, QUEUE, LEASE), [Group.QUEUE, Group.APPLY], (QUEUE, LEASE)),
        ((SERVER, UNREAD, FILES), [Group.QUEUE], (UNREAD, FILES)),
        ((AWAY, FILES), [Group.QUEUE, Group.REPOSITORY], (AWAY, FILES)),
        ((SERVER,), [Group.QUEUE], ()),
    ],
    ids=["one group", "two groups", "not checked", "one of two not checked", "nothing to say"],
)
def test_a_group_alone_or_what_kept_it_from_being_checked(
    findings: tuple[Finding, ...], groups: list[Group], left: tuple[Finding, ...]
) -> None:
    assert of_groups(findings, groups) == left


@pytest.mark.parametrize(
    ("finding", "plain", "strict"),
    [(QUEUE, 0, 0), (QUOTA, 0, 1), (UNREAD, 0, 1), (FILES, 1, 1)],
    ids=lambda value: value.status.value if isinstance(value, Finding) else str(value),
)
def test_strict_takes_nothing_but_ok(finding: Finding, plain: int, strict: int) -> None:
    assert exit_code([QUEUE, finding]) == plain
    assert exit_code([QUEUE, finding], strict=True) == strict
