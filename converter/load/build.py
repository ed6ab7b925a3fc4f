"""From values that a schema accepts to the model."""

from collections.abc import Mapping
from typing import Any, Final

from converter.model import (
    EMPTY,
    Backend,
    Campaign,
    Flavor,
    Pipeline,
    Settings,
    Size,
    SlurmFlavor,
    SlurmPriority,
    SlurmSettings,
    SourceKind,
    Volume,
    Warmup,
)

Values = Mapping[str, Any]

# Keys whose values the model takes as they are.
_PLAIN_SETTINGS: Final = (
    "namespace",
    "queue",
    "window",
    "default_size",
    "env",
    "secrets",
    "data_pvc",
    "runtime_class",
    "node_selector",
    "allow_image_tags",
    "max_seconds",
    "warmup_wait_seconds",
    "ttl_seconds_after_finished",
    "backoff_limit_per_index",
    "prune_limit",
    "repository",
    "apiserver_request_timeout",
    "s3_secret",
    "hf_token_secret",
    "manifest_max_bytes",
    "fetch_max_bytes",
)
_PLAIN_SLURM: Final = ("host", "partition", "account", "max_array_size", "command_timeout")
_PLAIN_CAMPAIGN: Final = ("pipeline", "priority", "window", "min_window", "suspend")
_PLAIN_PIPELINE: Final = (
    "image",
    "env",
    "size",
    "max_seconds",
    "max_execution_seconds",
    "ttl_seconds_after_finished",
    "steps",
)


def campaign(name: str, path: str, values: Values) -> Campaign:
    """A campaign from the values of its file."""
    volumes = tuple(map(_volume, values["volumes"]))
    return Campaign(name=name, path=path, volumes=volumes, **_some(values, _PLAIN_CAMPAIGN))


def pipeline(name: str, path: str, values: Values) -> Pipeline:
    """A pipeline from the values of its file."""
    return Pipeline(
        id=name,
        path=path,
        command=tuple(values["command"]) if "command" in values else None,
        args=tuple(values.get("args", ())),
        warmup=_warmup(values),
        **_some(values, _PLAIN_PIPELINE),
    )


def settings(values: Values) -> Settings:
    """The settings from the values of converter.yaml."""
    plain = {"namespace": "", "queue": "", **_some(values, _PLAIN_SETTINGS)}
    if values.get("source_template"):
        plain["source_template"] = values["source_template"]
    return Settings(
        backend=Backend(values.get("backend", Backend.KUEUE)),
        priority_classes=tuple(values.get("priority_classes", ())),
        sizes={name: _size(name, size) for name, size in values.get("sizes", {}).items()},
        flavors=tuple(map(_flavor, values.get("flavors", ()))),
        quota=_quantities(values.get("quota", {})),
        command=tuple(values.get("command", ())),
        tolerations=tuple(values.get("tolerations", ())),
        warmup=_warmup(values),
        reactivate=values.get("reactivate", "always") == "always",
        results_url=values.get("results_url") or values.get("public_results_base", ""),
        image_cache=(values.get("image_cache") or {}).get("bucket", ""),
        slurm=_slurm(values["slurm"]) if "slurm" in values else None,
        **plain,
    )


def _some(values: Values, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: values[name] for name in names if name in values}


def _volume(value: str | Values) -> Volume:
    if isinstance(value, str):
        return Volume(value, SourceKind.REFERENCE, value)
    env = value.get("env", EMPTY)
    if "images" in value:
        return Volume(value["id"], SourceKind.IMAGES, images=tuple(value["images"]), env=env)
    kind = SourceKind.MANIFEST if "manifest" in value else SourceKind.SOURCE
    return Volume(value["id"], kind, value[kind.value], env=env)


def _warmup(values: Values) -> Warmup | None:
    if "warmup" not in values:
        return None
    warmup = values["warmup"]
    return Warmup(tuple(warmup.get("command", ())), tuple(warmup.get("args", ())))


def _size(name: str, values: Values) -> Size:
    others = _some(values, ("gpu", "flavor"))
    return Size(name, **others | _quantities(_some(values, ("cpu", "memory", "workdir"))))


def _flavor(values: Values) -> Flavor:
    return Flavor(
        name=values["name"],
        node_labels=values["nodeLabels"],
        node_taints=tuple(values.get("nodeTaints", ())),
        quota=_quantities(values.get("quota", {})),
    )


def _slurm(values: Values) -> SlurmSettings:
    flavors, priorities = values.get("flavors", {}), values.get("priorities", {})
    return SlurmSettings(
        directory=values["directory"].removesuffix("/"),
        container=tuple(values["container"]),
        flavors={name: SlurmFlavor(**flavor) for name, flavor in flavors.items()},
        priorities={name: SlurmPriority(**priority) for name, priority in priorities.items()},
        **_some(values, _PLAIN_SLURM),
    )


def _quantities(values: Values) -> dict[str, str]:
    return {name: _quantity(value) for name, value in values.items()}


def _quantity(value: str | float) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
