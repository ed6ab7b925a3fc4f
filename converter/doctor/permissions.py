"""Which commands an identity can run, and what it may do that none of them needs."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.needs import (
    EVERYTHING,
    NEEDS,
    Access,
    Command,
    Named,
    Need,
    Purpose,
    excesses,
    questions,
)
from converter.reconcile.queue_chain import Unknown

Answers = Mapping[Access, bool | Unknown]

_EXCESS: Final = Check(Group.PERMISSIONS, "excess")


@dataclass(frozen=True, slots=True)
class Rights:
    """What an identity may do: the answers to `asked`.

    `names` are the objects of this cluster that the needs are about, as far as they are known.
    """

    namespace: str
    names: Mapping[Named, tuple[str, ...]]
    answers: Answers
    needs: tuple[Need, ...] = NEEDS

    def lacking(self, needs: Iterable[Need]) -> tuple[Access, ...]:
        """What is denied of all that these needs come to."""
        return tuple(each for each in self._all(needs) if self.answers.get(each) is False)

    def unknown(self, needs: Iterable[Need]) -> tuple[str, ...]:
        """Why it is not known whether something is denied; each reason once."""
        answers = (self.answers.get(each) for each in self._all(needs))
        return tuple(dict.fromkeys(each.why for each in answers if isinstance(each, Unknown)))

    def _all(self, needs: Iterable[Need]) -> Iterator[Access]:
        for need in needs:
            yield from questions(need, self.names, self.namespace)


def asked(
    namespace: str, names: Mapping[Named, tuple[str, ...]], needs: Iterable[Need] = NEEDS
) -> tuple[Access, ...]:
    """Every question that the findings are made of, each once."""
    needed = (each for need in needs for each in questions(need, names, namespace))
    return tuple(dict.fromkeys((*needed, *excesses(namespace), EVERYTHING)))


def permission_findings(rights: Rights, wish: Purpose | None) -> tuple[Finding, ...]:
    """A finding for each command that is wished for, and one for what is too much.

    Without a wish, that the commands of one purpose cannot be run is no fault: the identity may be
    for the other. Few identities hold, so that is then told of one that can alone.
    """
    possible = {purpose for purpose in Purpose if not _blocked(rights, purpose)}
    holds = Purpose.HOLD in possible and not rights.unknown(_needs_of(rights, Purpose.HOLD))
    told = {Purpose.APPLY, Purpose.VIEW} | ({Purpose.HOLD} if holds else set())
    told = {wish} if wish else told
    wanted = [command for command in Command if command.purposes & told]
    strict = bool(wish) or not possible
    commands = tuple(command_finding(command, rights, strict=strict) for command in wanted)
    return (*commands, excess_finding(rights))


def command_finding(command: Command, rights: Rights, *, strict: bool) -> Finding:
    """Whether a command can be run; where not, a fault if `strict`.

    What only makes it tell less is a warning if `strict`.
    """
    check = Check(Group.PERMISSIONS, f"may-{command}")
    needed = [need for need in rights.needs if command in need.needed_by]
    if lacking := rights.lacking(needed):
        found = f"`campaigns {command}` cannot be run: this identity may not {spelt(lacking)}"
        return (check.fault if strict else check.warning)(found, _grant(rights, command))
    if unknown := rights.unknown(needed):
        found = f"whether `campaigns {command}` can be run is not known: {'; '.join(unknown)}"
        return check.unknown(found, "ask whether this identity may create SelfSubjectAccessReviews")
    less = rights.lacking(need for need in rights.needs if command in need.helps)
    if not less:
        return check.ok(f"`campaigns {command}` can be run")
    runs = f"`campaigns {command}` can be run, and {_less(command)}"
    if strict:
        return check.warning(f"{runs} without: {spelt(less)}", _grant(rights, command))
    return check.ok(f"{runs} than with every right (--for {_identity(command)} names them)")


def excess_finding(rights: Rights) -> Finding:
    """What the identity may do beyond campaigns, of what can do harm."""
    remedy = "use an identity for campaigns alone, such as the chart's"
    if rights.answers.get(EVERYTHING) is True:
        return _EXCESS.warning("this identity may do everything on the cluster", remedy)
    looked_for = excesses(rights.namespace)
    too_much = [each for each in looked_for if rights.answers.get(each) is True]
    if too_much:
        return _EXCESS.warning(f"this identity may also {spelt(too_much)}", remedy)
    whys = [each.why for each in map(rights.answers.get, looked_for) if isinstance(each, Unknown)]
    if whys:
        return _EXCESS.unknown(f"what else this identity may do is not known: {whys[0]}", remedy)
    return _EXCESS.ok("this identity may read no Secrets, start no pods and change no queues")


def spelt(accesses: Iterable[Access]) -> str:
    """Permissions as people say them; verbs for the same objects together."""
    verbs: dict[Access, list[str]] = {}
    for each in accesses:
        of = Access(each.group, each.resource, "", each.name, each.namespace)
        verbs.setdefault(of, []).append(each.verb)
    return ", ".join(f"{'/'.join(said)}{of}" for of, said in verbs.items())


def _blocked(rights: Rights, purpose: Purpose) -> bool:
    return bool(rights.lacking(_needs_of(rights, purpose)))


def _needs_of(rights: Rights, purpose: Purpose) -> list[Need]:
    """Those without which a command of a purpose fails."""
    commands = {command for command in Command if purpose in command.purposes}
    return [need for need in rights.needs if need.needed_by & commands]


def _less(command: Command) -> str:
    sends = command in (Command.APPLY, Command.DIFF)
    return "checks less" if sends else "tells less"


def _identity(command: Command) -> Purpose:
    return next(purpose for purpose in Purpose if purpose in command.purposes)


def _grant(rights: Rights, command: Command) -> str:
    settings = {
        Purpose.APPLY: "apply.enabled",
        Purpose.VIEW: "viewer.enabled",
        Purpose.HOLD: "holder.enabled",
    }
    either = " or ".join(settings[purpose] for purpose in Purpose if purpose in command.purposes)
    return (
        f"have it granted for namespace {rights.namespace}, or use the identity that the chart "
        f"makes with {either}"
    )
