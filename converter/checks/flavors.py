"""Rules about the flavors of converter.yaml: Kueue tells them apart by node labels alone."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from converter.checks.registry import Finding, Known, kubernetes_rule, kueue_rule
from converter.checks.resources import rooms_for, size_of
from converter.checks.wording import EXAMPLE_IMAGE
from converter.load.files import SETTINGS_FILE
from converter.model import Backend, Flavor, Settings, Size
from converter.rule import Rule
from converter.taints import repels, spelt_taint

_FLAVORS = "# converter.yaml\nflavors:\n"


@kueue_rule(
    Rule(
        code="S007",
        name="duplicate-flavor",
        what="Each flavor has a name of its own.",
        why="A ClusterQueue lists a flavor once; which of two entries counts, nobody could say.",
        wrong=f"{_FLAVORS}  - {{name: gpu, nodeLabels: {{gpu: a100}}}}\n"
        "  - {name: gpu, nodeLabels: {gpu: h100}}\n",
        right=f"{_FLAVORS}  - {{name: a100, nodeLabels: {{gpu: a100}}}}\n"
        "  - {name: h100, nodeLabels: {gpu: h100}}\n",
        since="0.1.0",
    )
)
def _duplicate_flavor(known: Known) -> Iterator[Finding]:
    first: dict[str, int] = {}
    for index, flavor in enumerate(known.settings.flavors):
        earlier = first.setdefault(flavor.name, index)
        if earlier != index:
            yield Finding(
                SETTINGS_FILE,
                ("flavors", index, "name"),
                f"flavor {flavor.name} is number {earlier + 1} of the list already",
                "give each flavor a name of its own",
            )


@kueue_rule(
    Rule(
        code="S008",
        name="flavors-not-distinct",
        what="Every two flavors share a label key with different values.",
        why="A node could belong to both, and its room be counted twice. And where one flavor has "
        "all labels of the other, Kueue can admit a pod meant for one on the other: the pod stays "
        "Pending for ever and holds the wrong quota.",
        wrong=f"{_FLAVORS}  - {{name: a100, nodeLabels: {{gpu: a100}}}}\n"
        "  - {name: large, nodeLabels: {memory: large}}\n",
        right=f"{_FLAVORS}  - {{name: a100, nodeLabels: {{pool: a100}}}}\n"
        "  - {name: large, nodeLabels: {pool: large}}\n",
        since="0.1.0",
    )
)
def _flavors_not_distinct(known: Known) -> Iterator[Finding]:
    numbered = enumerate(known.settings.flavors)
    for (_, one), (index, other) in combinations(numbered, 2):
        if one.name == other.name or _contradict(one.node_labels, other.node_labels):
            continue
        yield Finding(
            SETTINGS_FILE,
            ("flavors", index, "nodeLabels"),
            f"flavors {one.name} and {other.name} share no label key with different values, so "
            "a node could be counted for both, and a pod meant for one be admitted on the other",
            "give both a label such as node-type, each with its own value",
        )


@kueue_rule(
    Rule(
        code="S009",
        name="selector-contradicts-flavor",
        what="node_selector does not contradict a flavor that a size names.",
        why="A pod has one node selector with both in it. The flavor's label would win, and the "
        "pods land outside of what node_selector says.",
        wrong="# converter.yaml\nnode_selector: {gpu: h100}\n"
        "flavors:\n  - {name: a100, nodeLabels: {gpu: a100}}\n"
        "sizes:\n  large: {cpu: 8, memory: 32Gi, flavor: a100}\ndefault_size: large\n",
        right="# converter.yaml\nnode_selector: {zone: north}\n"
        "flavors:\n  - {name: a100, nodeLabels: {gpu: a100}}\n"
        "sizes:\n  large: {cpu: 8, memory: 32Gi, flavor: a100}\ndefault_size: large\n",
        since="0.1.0",
    )
)
def _selector_contradicts_flavor(known: Known) -> Iterator[Finding]:
    selector = known.settings.node_selector
    for flavor in _flavors_of(known.settings, known.settings.sizes.values()).values():
        for key in _contradict(selector, flavor.node_labels):
            yield Finding(
                SETTINGS_FILE,
                ("node_selector", key),
                f"node_selector has {key}: {selector[key]}, and flavor {flavor.name} has "
                f"{key}: {flavor.node_labels[key]}",
                f"take {key} out of node_selector",
            )


@kueue_rule(
    Rule(
        code="S010",
        name="selector-fits-no-flavor",
        what="The node selector of a pod fits one of the flavors: node_selector, together with the "
        "labels of its size's flavor.",
        why="Kueue admits a pod on a flavor only when the node selector fits its labels, as far as "
        "any flavor names the label: every campaign would be queued for ever.",
        wrong="# converter.yaml\nnode_selector: {gpu: v100}\n"
        "flavors:\n  - {name: a100, nodeLabels: {gpu: a100}}\n"
        "  - {name: h100, nodeLabels: {gpu: h100}}\n",
        right="# converter.yaml\nnode_selector: {gpu: a100}\n"
        "flavors:\n  - {name: a100, nodeLabels: {gpu: a100}}\n"
        "  - {name: h100, nodeLabels: {gpu: h100}}\n",
        since="0.1.0",
        ignorable=True,
    )
)
def _selector_fits_no_flavor(known: Known) -> Iterator[Finding]:
    settings = known.settings
    own = (size_of(pipeline, settings) for pipeline in known.pipelines.values())
    sizes = (*settings.sizes.values(), *(size for size in own if size is not None))
    names = {flavor.name for flavor in settings.flavors}
    # An unknown flavor is another rule's.
    fitting_none = {
        size.flavor: size
        for size in sizes
        if rooms_for(size, settings) == () and (size.flavor is None or size.flavor in names)
    }
    for name in fitting_none:
        if name is None:
            what, remedy = "node_selector fits", "write labels that one of the flavors has"
        else:
            what = f"node_selector and the nodeLabels of flavor {name} together fit"
            remedy = f"take labels out of node_selector that other flavors have and {name} has not"
        message = f"{what} the nodeLabels of no flavor, so Kueue would never admit a campaign"
        yield Finding(SETTINGS_FILE, ("node_selector",), message, remedy)


@kubernetes_rule(
    Rule(
        code="S011",
        name="untolerated-taint",
        what="A flavor's NoSchedule and NoExecute taints are tolerated in converter.yaml where a "
        "warm-up runs on its nodes.",
        why="Kueue gives the flavor's tolerations to the pods that it admits, but it never sees a "
        "warm-up: its pod would stay Pending, and the campaign's pods wait for it and fail. "
        "With another backend no pod is given them.",
        wrong="# converter.yaml\ndata_pvc: models\ndefault_size: large\n"
        "sizes:\n  large: {cpu: 8, memory: 32Gi, flavor: a100}\n"
        "flavors:\n  - name: a100\n    nodeLabels: {gpu: a100}\n"
        "    nodeTaints: [{key: gpu, value: a100, effect: NoSchedule}]\n"
        f"# pipelines/ocr.yaml\nimage: {EXAMPLE_IMAGE}\ncommand: [ocr]\n"
        "warmup: {command: [ocr, --fetch]}\n",
        right="# converter.yaml\ndata_pvc: models\ndefault_size: large\n"
        "tolerations: [{key: gpu, operator: Exists}]\n"
        "sizes:\n  large: {cpu: 8, memory: 32Gi, flavor: a100}\n"
        "flavors:\n  - name: a100\n    nodeLabels: {gpu: a100}\n"
        "    nodeTaints: [{key: gpu, value: a100, effect: NoSchedule}]\n"
        f"# pipelines/ocr.yaml\nimage: {EXAMPLE_IMAGE}\ncommand: [ocr]\n"
        "warmup: {command: [ocr, --fetch]}\n",
        since="0.1.0",
        ignorable=True,
    )
)
def _untolerated_taint(known: Known) -> Iterator[Finding]:
    settings = known.settings
    queued = settings.backend is Backend.KUEUE
    pods = "the pods of a warm-up" if queued else "pods"
    sizes = _warmed(known) if queued else settings.sizes.values()
    for index, flavor in _flavors_of(settings, sizes).items():
        for number, taint in enumerate(flavor.node_taints):
            if repels(taint, settings.tolerations):
                yield Finding(
                    SETTINGS_FILE,
                    ("flavors", index, "nodeTaints", number),
                    f"{pods} do not tolerate the taint {spelt_taint(taint)} of flavor "
                    f"{flavor.name}",
                    f"add {{key: {taint['key']}, operator: Exists}} to tolerations",
                )


def _warmed(known: Known) -> Iterator[Size]:
    """The sizes of pipelines with a warm-up, whose nodes are the warm-up's too."""
    for pipeline in known.pipelines.values():
        size = size_of(pipeline, known.settings)
        if size is not None and (pipeline.warmup or known.settings.warmup):
            yield size


def _flavors_of(settings: Settings, sizes: Iterable[Size]) -> dict[int, Flavor]:
    """The flavors that sizes name, by their place in the list."""
    named = {size.flavor for size in sizes}
    return {i: flavor for i, flavor in enumerate(settings.flavors) if flavor.name in named}


def _contradict(one: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """The label keys to which both give a value, and not the same one."""
    return [key for key, value in one.items() if other.get(key, value) != value]
