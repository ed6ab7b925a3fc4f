"""A rendered Kubernetes object, and what it is for."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    """What a rendered object is for; also the value of the role label."""

    PIPELINE = "pipeline"
    WARMUP = "warmup"
    VOLUMES = "volumes"
    CAMPAIGN = "campaign"
    STATUS = "status"


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object to apply. `body` is the whole object; treat it as read-only.

    `campaign` is empty for the objects of a pipeline. A campaign that is split has several Jobs
    and ConfigMaps with the same `campaign`. A paused campaign's Job has ``spec.suspend: true`` and
    the suspend annotation. `size` is the size of its pods as converter.yaml names it, empty for the
    built-in one.
    """

    role: Role
    body: Mapping[str, Any]
    pipeline: str
    campaign: str = ""
    suspended: bool = False
    size: str = ""

    @property
    def kind(self) -> str:
        """Kubernetes kind: ``ConfigMap`` or ``Job``."""
        return str(self.body["kind"])

    @property
    def name(self) -> str:
        """``metadata.name``."""
        return str(self.body["metadata"]["name"])

    @property
    def target(self) -> str:
        """``Kind/name``, as messages name an object."""
        return f"{self.kind}/{self.name}"
