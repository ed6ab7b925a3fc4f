"""How an array ended, from what its tasks have written. Pure."""

from collections.abc import Iterable, Sequence

from converter.errors import Refused
from converter.reconcile.record import FAILED, FINISHED, PARTLY_FAILED, Record
from converter.reconcile.slurm.array import Array, arrays_in, by_campaign
from converter.reconcile.slurm.submission import Submission
from converter.slurm.state import State
from converter.slurm.survey import Survey
from converter.times import instant, rfc3339
from converter.wording import first_few


def ended(array: Array, volumes: Sequence[str], now: int) -> Record | None:
    """How an array ended, whether or not an apply has kept that; None while it may run.

    `now` is an epoch.
    """
    if array.state is not None and array.state.record is not None:
        return array.state.record
    return record_of(array, volumes, rfc3339(now)) if array.has_gone else None


def volumes_of(state: State | None, part: Submission | None) -> tuple[str, ...]:
    """The ids by index of what was submitted, as git has them; empty where git has others."""
    if state is None or part is None or state.volumes_sha256 != part.volumes_sha256:
        return ()
    return part.volumes


def volumes_to_retry(campaign: str, found: Survey, wanted: Iterable[Submission]) -> tuple[str, ...]:
    """The ids of the volumes that failed, over all parts of a campaign.

    Raises Refused while a part may still run, where nothing is known of the campaign, and where
    git does not say any more which volumes those were.
    """
    parts = {part.name: part for part in wanted}
    arrays = by_campaign(arrays_in(found)).get(campaign)
    if not arrays:
        unread = (
            f": {first_few(found.unreadable)} of the state cannot be read"
            if found.unreadable
            else ""
        )
        raise Refused(f"nothing is known of campaign {campaign} on the Slurm host{unread}")
    failed: list[str] = []
    for name, array in arrays.items():
        volumes = volumes_of(array.state, parts.get(name))
        record = ended(array, volumes, found.host_epoch)
        if record is None:
            raise Refused(
                f"campaign {campaign} has not ended yet: what fails now may still succeed"
            )
        if record.failed and not array.has_ended and not volumes:
            raise Refused(
                f"campaign {campaign} has ended and is not recorded yet, and git has other volumes "
                "than those it ran: apply first"
            )
        failed += record.failed_volumes
    return tuple(failed)


def record_of(array: Array, volumes: Sequence[str], now: str) -> Record:
    """The record of an array of which nothing runs any more.

    A volume is done where its task has said so. One without a word was killed with its node or by
    its time, cancelled, or never came to run: it is as little done as one that failed. `volumes`
    are the ids by index, empty where they are not known; `now` is RFC 3339 in UTC.
    """
    state = array.state
    if state is None:
        raise ValueError("nothing is known of the array")
    done = {index for index, result in array.results.items() if result.code == 0}
    ids = tuple(volumes)
    undone = tuple(
        ids[index] if index < len(ids) else f"index {index}"
        for index in range(state.total)
        if index not in done
    )
    ends = sorted(result.at for result in array.results.values() if instant(result.at))
    partly = PARTLY_FAILED if done else FAILED
    return Record(
        phase=partly if undone else FINISHED,
        total=state.total,
        done=state.total - len(undone),
        failed=len(undone),
        failed_volumes=undone,
        started_at=rfc3339(state.at) if state.at else "",
        finished_at=ends[-1] if ends else now,
        job_uid=f"slurm-{state.job}",
        volumes_sha256=state.volumes_sha256,
        commit=state.commit,
    )
