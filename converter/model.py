"""What a campaigns repository says, as frozen values.

The loader builds these from files that the schemas accept; nothing here reads a file, knows a
position or checks a rule. Quantities keep the spelling of the file (Kubernetes parses them).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

EMPTY: Mapping[str, Any] = MappingProxyType({})


class Backend(StrEnum):
    """The queue system that admits campaigns."""

    KUEUE = "kueue"
    KOORD_QUEUE = "koord-queue"
    NONE = "none"
    SLURM = "slurm"


class SourceKind(StrEnum):
    """How a volume says where its material is."""

    REFERENCE = "reference"  # a bare id, put into converter.yaml's source_template
    SOURCE = "source"
    MANIFEST = "manifest"
    IMAGES = "images"


@dataclass(frozen=True, slots=True)
class Volume:
    """One work item. `source` is one text; `images` is filled for kind IMAGES only.

    For a REFERENCE the source is still the bare id: the template is applied when rendering.
    """

    id: str
    kind: SourceKind
    source: str = ""
    images: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Campaign:
    """campaigns/<name>.yaml. `window` and `min_window` are None where the file has none."""

    name: str
    path: str
    pipeline: str
    volumes: tuple[Volume, ...]
    priority: str = ""
    window: int | None = None
    min_window: int | None = None
    suspend: bool = False


@dataclass(frozen=True, slots=True)
class Warmup:
    """The container that fills the model cache before a pipeline's first pod."""

    command: tuple[str, ...] = ()
    args: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """pipelines/<id>.yaml. None means: take converter.yaml's value. Seconds are whole seconds."""

    id: str
    path: str
    image: str
    command: tuple[str, ...] | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    size: str | None = None
    max_seconds: int | None = None
    max_execution_seconds: int | None = None
    ttl_seconds_after_finished: int | None = None
    steps: Any = None
    warmup: Warmup | None = None


@dataclass(frozen=True, slots=True)
class Size:
    """Requests and limits of one pod; the same number for both. `gpu` is whole GPUs."""

    name: str
    cpu: str
    memory: str
    gpu: int = 1
    workdir: str = "2Gi"
    flavor: str | None = None


@dataclass(frozen=True, slots=True)
class Flavor:
    """A ResourceFlavor as converter.yaml repeats it from the chart's values."""

    name: str
    node_labels: Mapping[str, str]
    node_taints: tuple[Mapping[str, str], ...] = ()
    quota: Mapping[str, str] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class SlurmFlavor:
    """The nodes of a Slurm cluster that a size's `flavor` stands for; one of both is not empty."""

    partition: str = ""
    constraint: str = ""


@dataclass(frozen=True, slots=True)
class SlurmPriority:
    """What a campaign's `priority` stands for in Slurm. `nice` is None where it is not set."""

    qos: str = ""
    nice: int | None = None


@dataclass(frozen=True, slots=True)
class SlurmSettings:
    """The `slurm` of converter.yaml; texts are empty where it has none.

    `directory` is absolute and has no slash at its end. `container` is put in front of a pipeline's
    command; empty, the command runs on the node itself. `max_array_size` is how many volumes one
    job array holds. `command_timeout` is in seconds.
    """

    directory: str
    container: tuple[str, ...]
    host: str = ""
    partition: str = ""
    account: str = ""
    flavors: Mapping[str, SlurmFlavor] = field(default_factory=lambda: EMPTY)
    priorities: Mapping[str, SlurmPriority] = field(default_factory=lambda: EMPTY)
    max_array_size: int = 1001
    command_timeout: int = 30


@dataclass(frozen=True, slots=True)
class Settings:
    """converter.yaml. Mappings and sequences are empty where the file names none.

    `tolerations` are Kubernetes toleration objects. `quota` is the ClusterQueue's quota when it
    has a single flavor (resource name to quantity). `secrets` maps a Secret's name to the path it
    is mounted at. `prune_limit` None means the built-in limit of apply. `slurm` is there with the
    backend `slurm` and with no other, and then `namespace` may be empty.
    """

    namespace: str
    queue: str
    backend: Backend = Backend.KUEUE
    window: int = 20
    priority_classes: tuple[str, ...] = ()
    sizes: Mapping[str, Size] = field(default_factory=lambda: EMPTY)
    default_size: str | None = None
    flavors: tuple[Flavor, ...] = ()
    quota: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    secrets: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    data_pvc: str = ""
    runtime_class: str = ""
    node_selector: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    tolerations: tuple[Mapping[str, Any], ...] = ()
    source_template: str = "{ref}"
    allow_image_tags: bool = False
    max_seconds: int = 21_600
    warmup_wait_seconds: int = 900
    ttl_seconds_after_finished: int = 604_800
    backoff_limit_per_index: int = 3
    warmup: Warmup | None = None
    prune_limit: int | None = None
    repository: str = ""
    reactivate: bool = True
    apiserver_request_timeout: int = 60
    s3_secret: str = ""
    hf_token_secret: str = ""
    results_url: str = ""
    manifest_max_bytes: int | None = None
    fetch_max_bytes: int | None = None
    image_cache: str = ""
    slurm: SlurmSettings | None = None


@dataclass(frozen=True, slots=True)
class Repo:
    """A whole repository. Campaigns and pipelines are sorted by name."""

    settings: Settings
    pipelines: Mapping[str, Pipeline]
    campaigns: Mapping[str, Campaign]
