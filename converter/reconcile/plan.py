"""What an apply is going to do, as a value. `planner` makes it and `execute` carries it out."""

from dataclasses import dataclass, replace
from enum import StrEnum

from converter.cluster.objects import Object
from converter.manifest import Manifest


class Verb(StrEnum):
    """What happens to one object; the value is the word that a report prints."""

    CREATE = "created"
    UPDATE = "configured"
    REPLACE = "replaced"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Step:
    """One object: what happens to it and, unless it is unchanged, what is sent.

    `handoff` is applied first, as the hand-off manager. `live_uid` is the uid of the object that
    is live now, empty where there is none. `note` is what is to be told of one that is unchanged.
    """

    manifest: Manifest
    verb: Verb
    body: Object
    handoff: Object | None = None
    live_uid: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """Objects that are sent in order; the first refusal stops the rest of the unit.

    `name` is a pipeline's id, or the name of a campaign's Job.
    """

    name: str
    pipeline: str
    steps: tuple[Step, ...]
    campaign: str = ""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A pipeline or campaign of which nothing is sent, and why."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class PauseWish:
    """What git says of one campaign Job: whether its Workload may be active."""

    job: str
    campaign: str
    active: bool


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """A Job that git wants paused but that somebody else made, and who that is."""

    job: str
    campaign: str
    reason: str


def kept_by_hold(hold: str) -> str:
    """Why what git has no more is not deleted; `hold` is the one on it, in words."""
    return (
        f"its file is gone, and {hold}; until then nothing of it is deleted, unless "
        "--release-holds is given"
    )


@dataclass(frozen=True, slots=True)
class Target:
    """One live object to delete; only the object with this uid is meant.

    `campaign` is the campaign that it belongs to, empty for a pipeline's. `hold` says which hold is
    on a Job, in words, empty without one.
    """

    kind: str
    name: str
    uid: str
    campaign: str = ""
    pipeline: str = ""
    hold: str = ""

    @property
    def held_back(self) -> HeldBack:
        """What is said where it may not be deleted for its hold."""
        reason = kept_by_hold(self.hold)
        if self.campaign:
            return HeldBack(self.campaign, "campaign", reason)
        return HeldBack(self.pipeline, "pipeline", reason)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything one apply does, in the order in which it does it.

    `finished` names campaigns that have ended and are left alone. `out_of_reach` are Jobs that git
    wants paused and that are not ours to pause. `unwanted` is what this render did not produce:
    deleted with prune, reported without.
    """

    pipelines: tuple[Unit, ...] = ()
    campaigns: tuple[Unit, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
    finished: tuple[str, ...] = ()
    pauses: tuple[PauseWish, ...] = ()
    out_of_reach: tuple[OutOfReach, ...] = ()
    unwanted: tuple[Target, ...] = ()

    @property
    def unwanted_campaigns(self) -> tuple[str, ...]:
        """The campaigns that a prune would remove, those with nothing left but a record too."""
        return tuple(sorted({target.campaign for target in self.unwanted} - {""}))

    @property
    def uncancelled(self) -> tuple[str, ...]:
        """The campaigns that have a Job though git no longer has them."""
        names = {target.campaign for target in self.unwanted if target.kind == "Job"}
        return tuple(sorted(names - {""}))

    def hold_on(self, campaign: str) -> str:
        """The hold on a campaign that git no longer has, in words; empty without one."""
        held = (target.hold for target in self.unwanted if target.campaign == campaign)
        return next(filter(None, held), "")

    def keeping_held(self) -> "Plan":
        """The plan of an apply that may not delete what is on hold.

        A campaign stays whole, and so does the pipeline that it runs.
        """
        held = [target for target in self.unwanted if target.hold]
        campaigns = {target.campaign for target in held} - {""}
        pipelines = {target.pipeline for target in held}
        kept = tuple(
            {target.campaign or target.pipeline: target.held_back for target in held}.values()
        )
        unwanted = tuple(
            target
            for target in self.unwanted
            if target.campaign not in campaigns
            and (target.campaign or target.pipeline not in pipelines)
        )
        return replace(self, held_back=(*self.held_back, *kept), unwanted=unwanted)
