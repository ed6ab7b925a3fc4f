"""Which volumes are being worked on, and by which campaign.

Two campaigns of one pipeline write a volume's results to the same place, so while one of them is
unfinished the other must not start. Of two that are both new the first in order of name goes out.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from converter.cluster.objects import Object, job_end, label, name
from converter.manifest import Manifest, Role
from converter.names import CAMPAIGN_LABEL, PIPELINE_LABEL, campaign_configmap
from converter.reconcile.live import Live, in_role
from converter.volumes import VOLUMES_KEY, parse_volumes
from converter.wording import first_few

# Of one pipeline: the campaign that a volume's id belongs to.
_Owners = dict[str, str]


@dataclass(slots=True)
class Claims:
    """The volumes of unfinished campaigns, by pipeline and id.

    Read from the live ConfigMaps, and only of a pipeline that is asked for: most applies start
    nothing. `rendered` are the ConfigMaps of volumes in git by name: a live one may have been
    edited, or not have been sent because the apply before this one was killed.
    """

    live: Live
    repository: str
    rendered: Mapping[str, Manifest]
    _owners: dict[str, _Owners] = field(default_factory=dict)

    def objection(self, campaign: str, new: Sequence[Manifest]) -> str:
        """Why ConfigMaps of volumes whose Jobs are to be created must wait; empty if they need not.

        Those of one campaign are expected. Without an objection the volumes are the campaign's
        from here on.
        """
        if not new:
            return ""
        pipeline = new[0].pipeline
        owners = self._of_pipeline(pipeline)
        ids = dict.fromkeys(each for volumes in new for each in _ids(volumes.body))
        shared = {each: owners[each] for each in ids if owners.get(each, campaign) != campaign}
        if not shared:
            owners.update(dict.fromkeys(ids, campaign))
            return ""
        others = ", ".join(sorted(set(shared.values())))
        are = "are" if len(shared) > 1 else "is"
        return (
            f"{first_few(shared)} {are} in campaign {others} of pipeline {pipeline} too, which has "
            "not ended, and both would write to the same place: apply again when it has, or take "
            f"{'them' if len(shared) > 1 else 'it'} out of this file"
        )

    def _of_pipeline(self, pipeline: str) -> _Owners:
        if pipeline not in self._owners:
            self._owners[pipeline] = dict(self._read(pipeline))
        return self._owners[pipeline]

    def _read(self, pipeline: str) -> Iterator[tuple[str, str]]:
        """The later of two claims counts: one whose volumes have been sent, if there is one."""
        sent = self.live.configmaps
        jobs = in_role(self.live.jobs.values(), Role.CAMPAIGN, self.repository)
        for job in sorted(jobs, key=lambda each: campaign_configmap(name(each)) in sent):
            if label(job, PIPELINE_LABEL) != pipeline or job_end(job) is not None:
                continue
            named = campaign_configmap(name(job))
            rendered = self.rendered[named].body if named in self.rendered else {}
            for volumes in (rendered, self.live.configmaps.get(named, {})):
                for each in _ids(volumes):
                    yield each, label(job, CAMPAIGN_LABEL)


def _ids(volumes: Object) -> Iterator[str]:
    """The ids in a ConfigMap of volumes; of one that somebody made unreadable, none."""
    try:
        listed = parse_volumes(str((volumes.get("data") or {}).get(VOLUMES_KEY, "")))
    except ValueError:
        return
    for volume, _ in listed:
        yield volume
