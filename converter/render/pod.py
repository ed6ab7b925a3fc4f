"""What a pod mounts, asks for and where it may run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from converter.layout import (
    CAMPAIGN_PATH,
    CONFIG_PATH,
    DATA_PATH,
    S3_PATH,
    WORK_PATH,
)
from converter.model import Settings
from converter.names import campaign_configmap, pipeline_configmap
from converter.render.recipe import Recipe, Resources

# Readable for the group that fsGroup gives the file to, and for nobody else.
_SECRET_MODE: Final = 0o440
_WARMUP_WORK: Final = "4Gi"


@dataclass(frozen=True, slots=True)
class Mount:
    """A volume of a pod and the one place at which a container sees it."""

    name: str
    source: Mapping[str, Any]
    path: str
    read_only: bool = True
    sub_path: str = ""

    def as_volume(self) -> dict[str, Any]:
        """The entry in the pod's ``volumes``."""
        return {"name": self.name, **self.source}

    def as_volume_mount(self) -> dict[str, Any]:
        """The entry in a container's ``volumeMounts``."""
        entry: dict[str, Any] = {"name": self.name, "mountPath": self.path}
        if self.read_only:
            entry["readOnly"] = True
        if self.sub_path:
            entry["subPath"] = self.sub_path
        return entry


def campaign_mounts(job: str, recipe: Recipe, settings: Settings) -> list[Mount]:
    """What a pod of a campaign's Job sees."""
    mounts = [
        Mount("campaign", _configmap(campaign_configmap(job)), CAMPAIGN_PATH),
        _config(recipe),
        _work({"medium": "Memory", "sizeLimit": recipe.resources.workdir}),
    ]
    if settings.data_pvc:
        mounts.append(data_mount(recipe, settings))
    if settings.s3_secret:
        mounts.append(Mount("s3", _secret(settings.s3_secret), S3_PATH))
    return mounts + _secrets(settings)


def warmup_mounts(recipe: Recipe, settings: Settings) -> list[Mount]:
    """What a warm-up's pod sees: the only one that may write to the recipe's model cache."""
    cache = Mount(
        "data", _claim(settings), DATA_PATH, read_only=False, sub_path=recipe.cache_directory
    )
    work = _work({"sizeLimit": _WARMUP_WORK})
    return [_config(recipe), work, cache, *_secrets(settings)]


def data_mount(recipe: Recipe, settings: Settings) -> Mount:
    """The data volume as a campaign's pods see it.

    With a warm-up it is the directory that the warm-up fills; without one the volume is not ours
    to arrange, and the pods see all of it. It is then claimed read-only, so that fsGroup changes
    no owner on it.
    """
    if recipe.warmup is not None:
        return Mount("data", _claim(settings), DATA_PATH, sub_path=recipe.cache_directory)
    return Mount("data", _claim(settings, {"readOnly": True}), DATA_PATH)


def volumes_of(mounts: Iterable[Mount]) -> list[dict[str, Any]]:
    """``volumes`` of a pod."""
    return [mount.as_volume() for mount in mounts]


def volume_mounts_of(mounts: Iterable[Mount]) -> list[dict[str, Any]]:
    """``volumeMounts`` of a container that sees all of `mounts`."""
    return [mount.as_volume_mount() for mount in mounts]


def resource_requirements(resources: Resources) -> dict[str, dict[str, str]]:
    """``resources`` of the container that processes a volume."""
    gpu = {"nvidia.com/gpu": str(resources.gpu)} if resources.gpu else {}
    return {
        "requests": {"cpu": resources.cpu, "memory": resources.memory_request, **gpu},
        "limits": {"cpu": resources.cpu, "memory": resources.memory_limit, **gpu},
    }


def scheduling(recipe: Recipe, settings: Settings, priority_class: str = "") -> dict[str, Any]:
    """The members of a pod's spec that say where it may run; only those that say something."""
    members = {
        "priorityClassName": priority_class,
        "runtimeClassName": settings.runtime_class,
        "nodeSelector": dict(sorted(recipe.node_selector.items())),
        "tolerations": [dict(sorted(toleration.items())) for toleration in settings.tolerations],
    }
    return {name: value for name, value in members.items() if value}


def _config(recipe: Recipe) -> Mount:
    return Mount("pipeline", _configmap(pipeline_configmap(recipe.pipeline)), CONFIG_PATH)


def _work(empty_dir: Mapping[str, str]) -> Mount:
    return Mount("work", {"emptyDir": empty_dir}, WORK_PATH, read_only=False)


def _secrets(settings: Settings) -> list[Mount]:
    return [
        Mount(f"secret-{number}", _secret(name), path)
        for number, (name, path) in enumerate(sorted(settings.secrets.items()))
    ]


def _configmap(name: str) -> dict[str, Any]:
    return {"configMap": {"name": name}}


def _secret(name: str) -> dict[str, Any]:
    return {"secret": {"secretName": name, "defaultMode": _SECRET_MODE}}


def _claim(settings: Settings, extra: Mapping[str, Any] | None = None) -> dict[str, Any]:
    return {"persistentVolumeClaim": {"claimName": settings.data_pvc, **(extra or {})}}
