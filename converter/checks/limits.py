"""Rules about limits of Kubernetes that the schema of converter.yaml does not know."""

from collections.abc import Iterator
from typing import Final

from converter.checks.registry import Finding, Known, kubernetes_rule
from converter.load.files import SETTINGS_FILE
from converter.load.wording import quoted
from converter.model import Settings
from converter.rule import Rule

# k8s.io/kubernetes/pkg/apis/batch/validation: maxParallelismForIndexedJob.
MAX_WINDOW: Final = 100_000
# k8s.io/apimachinery/pkg/util/validation: DNS1123SubdomainMaxLength.
MAX_PREFIX: Final = 253


@kubernetes_rule(
    Rule(
        code="S017",
        name="window-too-large",
        what=f"window is at most {MAX_WINDOW}.",
        why="The API server refuses an Indexed Job that runs more pods at once.",
        wrong="# converter.yaml\nwindow: 1000000\n",
        right="# converter.yaml\nwindow: 1000\n",
        since="0.1.0",
    )
)
def _window_too_large(known: Known) -> Iterator[Finding]:
    if known.settings.window > MAX_WINDOW:
        yield Finding(
            SETTINGS_FILE,
            ("window",),
            f"window {known.settings.window} is more than a Job may run at once",
            f"write at most {MAX_WINDOW}",
        )


@kubernetes_rule(
    Rule(
        code="S018",
        name="label-prefix-too-long",
        what=f"A label key has at most {MAX_PREFIX} characters before its /.",
        why="The API server refuses pods that select nodes by a longer one, or tolerate it.",
        wrong=f"# converter.yaml\nnode_selector: {{{'gpu.' * 64}example/type: a100}}\n",
        right="# converter.yaml\nnode_selector: {gpu.example/type: a100}\n",
        since="0.1.0",
    )
)
def _label_prefix_too_long(known: Known) -> Iterator[Finding]:
    for where, key, at_key in _label_keys(known.settings):
        prefix, _, _ = key.rpartition("/")
        if len(prefix) > MAX_PREFIX:
            yield Finding(
                SETTINGS_FILE,
                where,
                f"the part of {quoted(key)} before the / has {len(prefix)} characters",
                f"write at most {MAX_PREFIX}",
                at_key=at_key,
            )


def _label_keys(settings: Settings) -> Iterator[tuple[tuple[str | int, ...], str, bool]]:
    """Where each stands, the key, and whether it is a key in the file too."""
    for key in settings.node_selector:
        yield ("node_selector", key), key, True
    for index, toleration in enumerate(settings.tolerations):
        yield ("tolerations", index, "key"), toleration["key"], False
    for index, flavor in enumerate(settings.flavors):
        for key in flavor.node_labels:
            yield ("flavors", index, "nodeLabels", key), key, True
        for number, taint in enumerate(flavor.node_taints):
            yield ("flavors", index, "nodeTaints", number, "key"), taint["key"], False
