"""docs/backends.md says what each backend can do, and what an identity needs there."""

from __future__ import annotations

import os

import backends_document as document
import pytest

from converter.doctor.needs import Command, Need, Purpose, needs_of
from converter.model import Backend

ROLES = {"apply": Purpose.APPLY, "viewer": Purpose.VIEW, "holder": Purpose.HOLD}


def test_the_table_is_that_of_the_code() -> None:
    if os.environ.get(document.UPDATE):
        document.write_table()
    assert document.written_table() == document.table()


def wanted(backend: Backend, purpose: Purpose) -> set[tuple[str, str, str]]:
    """The rights that the commands of one purpose come to, doctor's own aside."""
    return {
        (need.group, need.resource, need.verb)
        for need in needs_of(backend)
        if need.namespaced and _is_for(need, purpose)
    }


def _is_for(need: Need, purpose: Purpose) -> bool:
    commands = (need.needed_by | need.helps) - {Command.DOCTOR}
    return any(purpose in command.purposes for command in commands)


@pytest.mark.parametrize("backend", list(document.SECTIONS))
@pytest.mark.parametrize("role", ROLES)
def test_each_role_has_just_what_its_commands_need(backend: Backend, role: str) -> None:
    given = {
        (group, resource, verb)
        for rule in document.roles(backend)[role]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }
    # What doctor looks at is the namespace.
    assert given - {("", "namespaces", "get")} == wanted(backend, ROLES[role])
