"""Rules about variables that every pod is given, or that a shell keeps for itself."""

from collections.abc import Iterable, Iterator

from converter.checks.registry import Finding, Known, rule, settings_rule
from converter.checks.wording import EXAMPLE_IMAGE
from converter.load.files import SETTINGS_FILE
from converter.load.result import LoadResult
from converter.names import RESERVED_ENV
from converter.rule import Rule

_WHY = (
    "These variables say which volume a pod processes, or belong to the shell that starts the "
    "command. The value would be lost, or the wrong volume be processed."
)
_PIPELINE = f"# pipelines/ocr.yaml\nimage: {EXAMPLE_IMAGE}\ncommand: [ocr]\n"


@rule(
    Rule(
        code="C012",
        name="reserved-volume-env",
        what="The env of a volume sets no variable that campaigns or the shell sets.",
        why=_WHY,
        wrong="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n"
        "  - {id: letters-1871, source: s3://letters/1871, env: {VOLUME_ID: '1871'}}\n",
        right="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n"
        "  - {id: letters-1871, source: s3://letters/1871, env: {YEAR: '1871'}}\n",
        since="0.1.0",
    )
)
def _reserved_volume_env(loaded: LoadResult) -> Iterator[Finding]:
    for campaign in loaded.campaigns.values():
        for index, volume in enumerate(campaign.volumes):
            if volume.env:
                yield from _reserved(campaign.path, ("volumes", index, "env"), volume.env)


@rule(
    Rule(
        code="P005",
        name="reserved-pipeline-env",
        what="The env of a pipeline sets no variable that campaigns or the shell sets.",
        why=_WHY,
        wrong=f"{_PIPELINE}env: {{PIPELINE_ID: ocr}}\n",
        right=f"{_PIPELINE}env: {{MODEL: ocr}}\n",
        since="0.1.0",
    )
)
def _reserved_pipeline_env(loaded: LoadResult) -> Iterator[Finding]:
    for pipeline in loaded.pipelines.values():
        yield from _reserved(pipeline.path, ("env",), pipeline.env)


@settings_rule(
    Rule(
        code="S006",
        name="reserved-settings-env",
        what="The env of converter.yaml sets no variable that campaigns or the shell sets.",
        why=_WHY,
        wrong="# converter.yaml\nenv: {IFS: ','}\n",
        right="# converter.yaml\nenv: {SEPARATOR: ','}\n",
        since="0.1.0",
    )
)
def _reserved_settings_env(known: Known) -> Iterator[Finding]:
    yield from _reserved(SETTINGS_FILE, ("env",), known.settings.env)


def _reserved(path: str, where: tuple[str | int, ...], names: Iterable[str]) -> Iterator[Finding]:
    for name in names:
        if RESERVED_ENV.match(name):
            yield Finding(
                path,
                (*where, name),
                f"the variable {name} is reserved",
                "give it another name",
                at_key=True,
            )
