"""Rules about pipelines."""

import re
from collections.abc import Iterator
from typing import Final

from converter.checks.registry import Finding, Known, rule, settings_rule
from converter.checks.wording import EXAMPLE_IMAGE, instead
from converter.load.result import LoadResult
from converter.load.wording import quoted
from converter.names import DNS_SUBDOMAIN, MAX_LABEL, PINNED_IMAGE, TAGGED_IMAGE, warmup_job
from converter.rule import Rule

_MAX_ID: Final = MAX_LABEL - len(warmup_job(""))
_PIPELINE = f"image: {EXAMPLE_IMAGE}\n"
# What an image may look like, and what to say of one that does not.
_Form = tuple[tuple[re.Pattern[str], ...], str, str]
_PINNED: Final[_Form] = (
    (PINNED_IMAGE,),
    "not an image pinned by a digest",
    "write <host>/<path>@sha256:<64 hex digits> without https:// and with the path in lower case, "
    "or allow_image_tags: true in converter.yaml for a local cluster",
)
_TAGGED: Final[_Form] = (
    (PINNED_IMAGE, TAGGED_IMAGE),
    "not an image with a tag or a digest",
    "write <host>/<path>:<tag> without https:// and with the path in lower case",
)


@rule(
    Rule(
        code="P001",
        name="pipeline-id",
        what=f"A pipeline's file name, without .yaml, is lower case a-z, 0-9, - and ., at most "
        f"{_MAX_ID} characters.",
        why="It becomes part of the names pipeline-<id> and warmup-<id> and the value of a label.",
        wrong=f"# pipelines/OCR_v2.yaml\n{_PIPELINE}command: [ocr]\n",
        right=f"# pipelines/ocr-v2.yaml\n{_PIPELINE}command: [ocr]\n",
        since="0.1.0",
    )
)
def _pipeline_id(loaded: LoadResult) -> Iterator[Finding]:
    for pipeline in loaded.pipelines.values():
        if len(pipeline.id) > _MAX_ID or not DNS_SUBDOMAIN.match(pipeline.id):
            yield Finding(
                pipeline.path,
                None,
                f"{quoted(pipeline.id)} cannot be the name of a pipeline",
                f"name the file with a-z, 0-9, - and ., at most {_MAX_ID} characters, a letter or "
                "digit at both ends and around each dot",
            )


@settings_rule(
    Rule(
        code="P002",
        name="unpinned-image",
        what="A pipeline's image is named by its digest or, with allow_image_tags: true in "
        "converter.yaml, by a tag.",
        why="A tag can mean another image tomorrow: the volumes of one campaign would be processed "
        "by different programs, and nobody could say by which. A name that no image can have "
        "leaves every pod waiting for it.",
        wrong="# pipelines/ocr.yaml\nimage: registry.example/ocr:2.1\ncommand: [ocr]\n",
        right=f"# pipelines/ocr.yaml\n{_PIPELINE}command: [ocr]\n",
        since="0.1.0",
    )
)
def _unpinned_image(known: Known) -> Iterator[Finding]:
    forms, what, remedy = _TAGGED if known.settings.allow_image_tags else _PINNED
    for pipeline in known.pipelines.values():
        if not any(form.match(pipeline.image) for form in forms):
            message = f"image {quoted(pipeline.image)} is {what}"
            yield Finding(pipeline.path, ("image",), message, remedy)


@settings_rule(
    Rule(
        code="P003",
        name="no-command",
        what="A pipeline has a command, its own or converter.yaml's.",
        why="The command is started by a small launcher that finds the pod's volume; the image's "
        "own entry point is not known to it.",
        wrong=f"# pipelines/ocr.yaml\n{_PIPELINE}",
        right=f"# pipelines/ocr.yaml\n{_PIPELINE}command: [ocr]\n",
        since="0.1.0",
    )
)
def _no_command(known: Known) -> Iterator[Finding]:
    for pipeline in known.pipelines.values():
        command = known.settings.command if pipeline.command is None else pipeline.command
        if not command:
            yield Finding(
                pipeline.path,
                ("command",),
                "it has no command, and neither has converter.yaml",
                "write what runs for a volume, for example command: [python, -m, ocr]",
            )


@settings_rule(
    Rule(
        code="P004",
        name="unknown-size",
        what="A pipeline's size is one of converter.yaml's sizes.",
        why="Without it nothing says what a pod may use.",
        wrong="# converter.yaml\nsizes:\n  large: {cpu: 8, memory: 32Gi}\n"
        f"# pipelines/ocr.yaml\n{_PIPELINE}command: [ocr]\nsize: lrage\n",
        right="# converter.yaml\nsizes:\n  large: {cpu: 8, memory: 32Gi}\n"
        f"# pipelines/ocr.yaml\n{_PIPELINE}command: [ocr]\nsize: large\n",
        since="0.1.0",
    )
)
def _unknown_size(known: Known) -> Iterator[Finding]:
    sizes = known.settings.sizes
    for pipeline in known.pipelines.values():
        if pipeline.size is not None and pipeline.size not in sizes:
            yield Finding(
                pipeline.path,
                ("size",),
                f"there is no size {quoted(pipeline.size)} in converter.yaml",
                instead(pipeline.size, sizes.keys(), "add it to sizes, or take it out"),
            )
