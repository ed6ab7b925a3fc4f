"""Rules about the sizes of converter.yaml."""

from collections.abc import Iterator

from converter.checks.registry import Finding, Known, kubernetes_rule, settings_rule
from converter.checks.resources import amount
from converter.checks.wording import instead
from converter.load.files import SETTINGS_FILE
from converter.load.wording import quoted
from converter.model import Settings
from converter.rule import Rule

_SIZES = "# converter.yaml\nsizes:\n"
_QUANTITY = "write a quantity above 0, for example 2, 500m or 8Gi"


@settings_rule(
    Rule(
        code="S002",
        name="unknown-default-size",
        what="default_size is one of sizes.",
        why="A pipeline without a size of its own would have none.",
        wrong=f"{_SIZES}  large: {{cpu: 8, memory: 32Gi}}\ndefault_size: lrage\n",
        right=f"{_SIZES}  large: {{cpu: 8, memory: 32Gi}}\ndefault_size: large\n",
        since="0.1.0",
    )
)
def _unknown_default_size(known: Known) -> Iterator[Finding]:
    name = known.settings.default_size
    if name and name not in known.settings.sizes:
        yield Finding(
            SETTINGS_FILE,
            ("default_size",),
            f"there is no size {quoted(name)}",
            instead(name, known.settings.sizes.keys(), "add it to sizes, or take default_size out"),
        )


@settings_rule(
    Rule(
        code="S003",
        name="size-quantity",
        what="A size's cpu, memory and workdir are quantities above 0.",
        why="A limit of 0 lets nothing run, and a working directory of 0 has no limit at all.",
        wrong=f"{_SIZES}  large: {{cpu: 0, memory: 32Gi}}\n",
        right=f"{_SIZES}  large: {{cpu: 8, memory: 32Gi}}\n",
        since="0.1.0",
    )
)
def _size_quantity(known: Known) -> Iterator[Finding]:
    for name, size in known.settings.sizes.items():
        members = {"cpu": size.cpu, "memory": size.memory, "workdir": size.workdir}
        for member, text in members.items():
            if not amount(text):
                yield Finding(
                    SETTINGS_FILE,
                    ("sizes", name, member),
                    f"{member} {quoted(text)} is not a quantity above 0",
                    _QUANTITY,
                )


@kubernetes_rule(
    Rule(
        code="S004",
        name="workdir-takes-all-memory",
        what="A size's memory is more than its workdir.",
        why="The working directory is in memory and counts against the limit: a pod that filled it "
        "would be killed for lack of memory.",
        wrong=f"{_SIZES}  large: {{cpu: 8, memory: 4Gi, workdir: 4Gi}}\n",
        right=f"{_SIZES}  large: {{cpu: 8, memory: 16Gi, workdir: 4Gi}}\n",
        since="0.1.0",
    )
)
def _workdir_takes_all_memory(known: Known) -> Iterator[Finding]:
    for name, size in known.settings.sizes.items():
        memory, workdir = amount(size.memory), amount(size.workdir)
        if memory and workdir and memory <= workdir:
            yield Finding(
                SETTINGS_FILE,
                ("sizes", name, "memory"),
                f"memory {size.memory} is not more than the workdir of {size.workdir}, which is "
                "part of it",
                "write more memory, or a smaller workdir",
            )


@settings_rule(
    Rule(
        code="S005",
        name="unknown-flavor",
        what="A size's flavor is one of flavors, or of slurm.flavors with backend slurm.",
        why="The flavor's node labels, or its partition and constraint, are what brings a pod or a "
        "job to its nodes.",
        wrong=f"{_SIZES}  large: {{cpu: 8, memory: 32Gi, flavor: a10}}\n"
        "flavors:\n  - {name: a100, nodeLabels: {gpu: a100}}\n",
        right=f"{_SIZES}  large: {{cpu: 8, memory: 32Gi, flavor: a100}}\n"
        "flavors:\n  - {name: a100, nodeLabels: {gpu: a100}}\n",
        since="0.1.0",
    )
)
def _unknown_flavor(known: Known) -> Iterator[Finding]:
    names = flavor_names(known.settings)
    place = "flavors" if known.settings.slurm is None else "slurm.flavors"
    for name, size in known.settings.sizes.items():
        if size.flavor is not None and size.flavor not in names:
            yield Finding(
                SETTINGS_FILE,
                ("sizes", name, "flavor"),
                f"there is no flavor {quoted(size.flavor)}",
                instead(size.flavor, names, f"add it to {place}, or take it out"),
            )


def flavor_names(settings: Settings) -> frozenset[str]:
    """The flavors that a size may name."""
    if settings.slurm is not None:
        return frozenset(settings.slurm.flavors)
    return frozenset(flavor.name for flavor in settings.flavors)
