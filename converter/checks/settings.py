"""Rules about converter.yaml that are not about sizes, flavors or variables."""

from collections.abc import Iterator, Mapping
from typing import Final

from converter.checks.registry import Finding, Known, kubernetes_rule, settings_rule
from converter.layout import CAMPAIGN_PATH, CONFIG_PATH, DATA_PATH, S3_PATH, WORK_PATH
from converter.load.files import SETTINGS_FILE
from converter.model import Backend, Settings
from converter.rule import Rule

# Without these no container starts, or no shell in it.
SYSTEM: Final = ("/proc", "/sys", "/dev", "/etc", "/bin", "/usr", "/lib", "/lib64", "/sbin")


@settings_rule(
    Rule(
        code="S013",
        name="no-queue",
        what="With a queue system, queue names the queue that campaigns wait in.",
        why="Kueue ignores a Job without the name of a LocalQueue: it would start at once, past "
        "every quota.",
        wrong='# converter.yaml\nqueue: ""\n',
        right="# converter.yaml\nqueue: campaigns\n",
        since="0.1.0",
    )
)
def _no_queue(known: Known) -> Iterator[Finding]:
    settings = known.settings
    if settings.backend in (Backend.KUEUE, Backend.KOORD_QUEUE) and not settings.queue:
        yield Finding(
            SETTINGS_FILE,
            ("queue",),
            f"backend {settings.backend} needs a queue",
            "write the name of the LocalQueue in the namespace"
            if settings.backend is Backend.KUEUE
            else "write the name of the ElasticQuota, whose queue has the same name",
        )


@kubernetes_rule(
    Rule(
        code="S014",
        name="quota-beside-flavors",
        what="quota is not written beside flavors.",
        why="quota describes a ClusterQueue with one flavor, and each of flavors has a quota of "
        "its own: one of the two is not what the ClusterQueue has.",
        wrong="# converter.yaml\nquota: {cpu: 64, memory: 256Gi, nvidia.com/gpu: 8}\n"
        "flavors:\n  - {name: a100, nodeLabels: {gpu: a100}}\n",
        right="# converter.yaml\nflavors:\n  - name: a100\n    nodeLabels: {gpu: a100}\n"
        "    quota: {cpu: 64, memory: 256Gi, nvidia.com/gpu: 8}\n",
        since="0.1.0",
    )
)
def _quota_beside_flavors(known: Known) -> Iterator[Finding]:
    if known.settings.quota and known.settings.flavors:
        yield Finding(
            SETTINGS_FILE,
            ("quota",),
            "quota is for a ClusterQueue with one flavor, and there are flavors",
            "write a quota in each flavor, and take this one out",
            at_key=True,
        )


@kubernetes_rule(
    Rule(
        code="S015",
        name="secret-mount-taken",
        what="Each Secret is mounted at a path of its own, neither above nor below another, and "
        "over no directory of the system.",
        why="A pod whose volumes are mounted over each other is refused, does not start, or sees "
        "one instead of the other. Without /bin or /proc no shell starts.",
        wrong="# converter.yaml\nsecrets: {archive-token: /work}\n",
        right="# converter.yaml\nsecrets: {archive-token: /secrets/archive}\n",
        since="0.1.0",
    )
)
def _secret_mount_taken(known: Known) -> Iterator[Finding]:
    taken = _mounted(known.settings)
    for name, path in known.settings.secrets.items():
        if fault := _fault(path, taken):
            remedy = f"write a path of its own, for example /secrets/{name}"
            yield Finding(SETTINGS_FILE, ("secrets", name), f"{path} is {fault}", remedy)
        taken.setdefault(path, f"Secret {name}")


def _mounted(settings: Settings) -> dict[str, str]:
    """Where a pod has something mounted already, and what."""
    taken = {
        WORK_PATH: "the working directory",
        CONFIG_PATH: "the pipeline's steps",
        CAMPAIGN_PATH: "the list of volumes",
    }
    if settings.data_pvc:
        taken[DATA_PATH] = "the model cache"
    if settings.s3_secret:
        taken[S3_PATH] = "s3_secret"
    return taken


def _fault(path: str, taken: Mapping[str, str]) -> str:
    """What is wrong with a path, the first thing alone; empty if nothing is."""
    for system in SYSTEM:
        if _is_at_or_above(path, system):
            return f"the same as or above {system}, which every container needs"
    for other, what in taken.items():
        if _is_at_or_above(path, other) or _is_at_or_above(other, path):
            return f"the same as, above or below {other}, where {what} is mounted"
    return ""


def _is_at_or_above(one: str, other: str) -> bool:
    return f"{other.rstrip('/')}/".startswith(f"{one.rstrip('/')}/")
