"""What an apply does about each array: pure rules over what git wants and what there is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from converter.reconcile.slurm.array import Array, arrays_in, by_campaign, campaign_of
from converter.reconcile.slurm.objections import Claims, objection
from converter.reconcile.slurm.submission import Submission
from converter.slurm.survey import Survey


@dataclass(frozen=True, slots=True)
class Stray:
    """An array of a campaign that git has, but cut into other parts."""

    name: str
    campaign: str


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done, by the names of arrays. `held_back` is by campaign, with the reason.

    `paused` and `resumed` are those that git pauses and lets run, whether or not anything is to be
    written for it. `strays` are what else there is of campaigns that git pauses. `unwanted` are
    arrays and records that git has no more.
    """

    held_back: Mapping[str, str]
    submitted: tuple[Submission, ...] = ()
    ended: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()
    paused: tuple[Submission, ...] = ()
    strays: tuple[Stray, ...] = ()
    resumed: tuple[Submission, ...] = ()
    unwanted: tuple[str, ...] = ()


def plan(wanted: Sequence[Submission], found: Survey) -> Plan:
    """Compare. A pause is in the plan whatever else is wrong with a campaign."""
    campaigns: dict[str, list[Submission]] = {}
    for each in wanted:
        campaigns.setdefault(each.campaign, []).append(each)
    names = {each.name for each in wanted}
    arrays = arrays_in(found, names)
    there = by_campaign(arrays)
    claims = Claims(arrays, wanted)
    held_back: dict[str, str] = {}
    submitted: list[Submission] = []
    finished, paused, resumed = [], [], []
    strays: list[Stray] = []
    for campaign, parts in campaigns.items():
        reason = objection(parts, there.get(campaign, ()), arrays, found) or claims.objection(
            parts, arrays
        )
        if reason:
            held_back[campaign] = reason
        for part in parts:
            array = arrays[part.name]
            if _is_over(array):
                continue
            if part.suspended:
                # Of what is new and held back there is nothing to pause.
                paused += [part] if not reason or array.state or array.jobs else []
            elif not reason:
                resumed.append(part)
            if not reason and not array.numbers:
                submitted.append(part)
        if any(part.suspended for part in parts):
            strays += (
                Stray(name, campaign)
                for name, array in there.get(campaign, {}).items()
                if name not in names and not _is_over(array)
            )
        if not reason and all(arrays[part.name].has_ended for part in parts):
            finished.append(campaign)
    return Plan(
        held_back,
        tuple(submitted),
        tuple(sorted(name for name, array in arrays.items() if array.has_gone)),
        tuple(finished),
        tuple(paused),
        tuple(strays),
        tuple(resumed),
        # A campaign that git has, cut into other parts, is held back.
        tuple(
            sorted(
                name
                for name in set(arrays) - names
                if arrays[name].is_left and campaign_of(arrays[name]) not in campaigns
            )
        ),
    )


def _is_over(array: Array) -> bool:
    return (array.has_ended and not array.runs_again) or array.has_gone
