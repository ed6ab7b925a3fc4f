"""Rules about converter.yaml that are not about sizes, flavors or variables."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from converter.checks.registry import SETTINGS_PATH, Finding, Known, settings_rule
from converter.layout import CAMPAIGN_PATH, CONFIG_PATH, DATA_PATH, S3_PATH, WORK_PATH
from converter.model import Backend
from converter.rule import Rule

# What this release has in converter.queues.AVAILABLE, which is not imported for a check of files.
AVAILABLE_BACKENDS: Final = (Backend.KUEUE,)

# Where a pod has something mounted already, by what it is.
MOUNTED: Final = {
    WORK_PATH: "the working directory",
    DATA_PATH: "the model cache",
    CONFIG_PATH: "the pipeline's steps",
    CAMPAIGN_PATH: "the list of volumes",
    S3_PATH: "s3_secret",
}


@settings_rule(
    Rule(
        code="S012",
        name="unavailable-backend",
        what="backend is a queue system that this release has.",
        why="The files would be valid and nothing could be rendered from them.",
        wrong="# converter.yaml\nbackend: slurm\n",
        right="# converter.yaml\nbackend: kueue\n",
        since="0.1.0",
    )
)
def _unavailable_backend(known: Known) -> Iterator[Finding]:
    if known.settings.backend not in AVAILABLE_BACKENDS:
        yield Finding(
            SETTINGS_PATH,
            ("backend",),
            f"this release has no backend {known.settings.backend}",
            f"write one of: {', '.join(AVAILABLE_BACKENDS)}",
        )


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
            SETTINGS_PATH,
            ("queue",),
            f"backend {settings.backend} needs a queue",
            "write the name of the LocalQueue in the namespace"
            if settings.backend is Backend.KUEUE
            else "write the name of the queue",
        )


@settings_rule(
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
            SETTINGS_PATH,
            ("quota",),
            "quota is for a ClusterQueue with one flavor, and there are flavors",
            "write a quota in each flavor, and take this one out",
            at_key=True,
        )


@settings_rule(
    Rule(
        code="S015",
        name="secret-mount-taken",
        what="Each Secret is mounted at a path of its own, neither above nor below another.",
        why="A pod whose volumes are mounted over each other is refused, does not start, or sees "
        "one instead of the other.",
        wrong="# converter.yaml\nsecrets: {archive-token: /work}\n",
        right="# converter.yaml\nsecrets: {archive-token: /secrets/archive}\n",
        since="0.1.0",
    )
)
def _secret_mount_taken(known: Known) -> Iterator[Finding]:
    secrets = known.settings.secrets
    for name, path in secrets.items():
        for taken, what in MOUNTED.items():
            if _overlap(path, taken):
                yield _overlapping(name, path, f"{taken}, where {what} is mounted")
    for (one, earlier), (name, path) in combinations(secrets.items(), 2):
        if _overlap(path, earlier):
            yield _overlapping(name, path, f"{earlier}, where Secret {one} is mounted")


def _overlapping(name: str, path: str, taken: str) -> Finding:
    return Finding(
        SETTINGS_PATH,
        ("secrets", name),
        f"{path} is the same as, above or below {taken}",
        f"write a path of its own, for example /secrets/{name}",
    )


def _overlap(one: str, other: str) -> bool:
    first, second = (f"{path.rstrip('/')}/" for path in (one, other))
    return first.startswith(second) or second.startswith(first)
