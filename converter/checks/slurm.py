"""Rules about the settings of a Slurm cluster, and about what has no meaning there."""

from collections.abc import Iterator, Mapping
from typing import Final

from converter.checks.registry import Finding, Known, settings_rule
from converter.layout import CONFIG_PATH
from converter.load.files import SETTINGS_FILE
from converter.model import Pipeline
from converter.rule import Rule

IMAGE: Final = "{image}"

_SLURM: Final = (
    "# converter.yaml\nbackend: slurm\nslurm:\n  directory: /shared/campaigns\n"
    '  container: [apptainer, exec, "docker://{image}"]\n'
)
_STEPS_FILE: Final = f"{CONFIG_PATH}/pipeline.yaml"
_FILES: Final = "put what it holds into a file on the nodes that only the jobs' user can read"
# Settings without which something else would run, and what to do instead.
_MEANINGLESS: Final[Mapping[str, tuple[str, str]]] = {
    "flavors": ("ResourceFlavors", "write slurm.flavors, and take flavors out"),
    "node_selector": (
        "labels of nodes",
        "write a constraint in slurm.flavors, and take node_selector out",
    ),
    "tolerations": ("taints", "take tolerations out"),
    "runtime_class": (
        "RuntimeClasses",
        "write the option into slurm.container, and take runtime_class out",
    ),
    "secrets": ("Secrets", f"{_FILES}, and take secrets out"),
    "s3_secret": ("Secrets", f"{_FILES}, and take s3_secret out"),
    "hf_token_secret": ("Secrets", f"{_FILES}, and take hf_token_secret out"),
    "data_pvc": (
        "PersistentVolumeClaims",
        "put models where the nodes can read them, name that place in env, and take data_pvc out",
    ),
    "warmup": (
        "warm-ups",
        "put models where the nodes can read them before the campaign, and take warmup out",
    ),
}


@settings_rule(
    Rule(
        code="S020",
        name="meaningless-with-slurm",
        what="With backend slurm no file asks for what only Kubernetes has: flavors, "
        "node_selector, tolerations, runtime_class, secrets, s3_secret, hf_token_secret, data_pvc "
        f"and warmup, nor does a command name {_STEPS_FILE}.",
        why="Nothing would come of it, and the volumes would be processed without it, or on other "
        "nodes. The steps of a pipeline are in a file that the variable PIPELINE_PATH names.",
        wrong=f"{_SLURM}secrets: {{archive-token: /secrets/archive}}\n",
        right=f"{_SLURM}env: {{ARCHIVE_TOKEN_FILE: /home/ocr/archive-token}}\n",
        since="0.1.0",
    )
)
def _meaningless_with_slurm(known: Known) -> Iterator[Finding]:
    if known.settings.slurm is None:
        return
    for key, (what, remedy) in _MEANINGLESS.items():
        if getattr(known.settings, key):
            yield _has_none(SETTINGS_FILE, key, what, remedy)
    for where, word in enumerate(known.settings.command):
        if _STEPS_FILE in word:
            yield _no_steps_file(SETTINGS_FILE, ("command", where))
    for pipeline in known.pipelines.values():
        if pipeline.warmup is not None:
            yield _has_none(pipeline.path, "warmup", *_MEANINGLESS["warmup"])
        yield from _steps_files(pipeline)


def _steps_files(pipeline: Pipeline) -> Iterator[Finding]:
    for key, words in (("command", pipeline.command or ()), ("args", pipeline.args)):
        for where, word in enumerate(words):
            if _STEPS_FILE in word:
                yield _no_steps_file(pipeline.path, (key, where))


def _has_none(path: str, key: str, what: str, remedy: str) -> Finding:
    return Finding(path, (key,), f"backend slurm has no {what}", remedy, at_key=True)


def _no_steps_file(path: str, where: tuple[str | int, ...]) -> Finding:
    return Finding(
        path,
        where,
        f"with backend slurm there is no {_STEPS_FILE}",
        "have the command read the variable PIPELINE_PATH, which names the file with the steps",
    )


@settings_rule(
    Rule(
        code="S021",
        name="container-without-image",
        what=f"slurm.container has {IMAGE} in it exactly once, not in its first entry, or it is "
        "empty.",
        why="Without the image the container command would take the pipeline's command for it. "
        "Without any container the command is a program of the nodes, and that is to be meant.",
        wrong="# converter.yaml\nbackend: slurm\nslurm:\n  directory: /shared/campaigns\n"
        "  container: [apptainer, exec]\n",
        right=_SLURM,
        since="0.1.0",
    )
)
def _container_without_image(known: Known) -> Iterator[Finding]:
    slurm = known.settings.slurm
    if slurm is None or not slurm.container:
        return
    count = sum(word.count(IMAGE) for word in slurm.container)
    first = slurm.container[0]
    if count == 1 and first and IMAGE not in first:
        return
    if not first or IMAGE in first:
        message = "the first entry of container is not a program"
    else:
        message = (
            f"container has {IMAGE} in it {count} times" if count else f"no {IMAGE} in container"
        )
    yield Finding(
        SETTINGS_FILE,
        ("slurm", "container"),
        message,
        'write for example [apptainer, exec, "docker://{image}"], or [] to run commands without a '
        "container",
    )


@settings_rule(
    Rule(
        code="S022",
        name="priorities-differ",
        what="With backend slurm, priority_classes and slurm.priorities have the same names.",
        why="A campaign may ask for what is in priority_classes, and slurm.priorities says what "
        "comes of it: a priority that is in one of them alone would do nothing.",
        wrong=f"{_SLURM}  priorities: {{urgent: {{qos: high}}}}\npriority_classes: [urgent, low]\n",
        right=f"{_SLURM}  priorities: {{urgent: {{qos: high}}, low: {{nice: 500}}}}\n"
        "priority_classes: [urgent, low]\n",
        since="0.1.0",
    )
)
def _priorities_differ(known: Known) -> Iterator[Finding]:
    slurm = known.settings.slurm
    if slurm is None:
        return
    classes = known.settings.priority_classes
    for index, name in enumerate(classes):
        if name not in slurm.priorities:
            yield Finding(
                SETTINGS_FILE,
                ("priority_classes", index),
                f"slurm.priorities does not say what priority {name} is",
                f"write {name}: {{qos: NAME}} or {name}: {{nice: NUMBER}} there",
            )
    for name in slurm.priorities:
        if name not in classes:
            yield Finding(
                SETTINGS_FILE,
                ("slurm", "priorities", name),
                f"priority {name} is not one of priority_classes, so no campaign may ask for it",
                "add it to priority_classes, or take it out",
                at_key=True,
            )
