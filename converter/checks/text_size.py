"""How much text the pods of a pipeline can be given: a rule about its file and converter.yaml."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from converter.checks.registry import Finding, Known, settings_rule
from converter.checks.volumes import MAX_LINE
from converter.checks.wording import EXAMPLE_IMAGE
from converter.load.files import SETTINGS_FILE
from converter.model import Pipeline, Settings, Warmup
from converter.rule import Rule
from converter.split import MAX_BYTES

# All of them are in one Job and in one list of arguments and variables, of which Linux takes 2 MiB.
# JSON may write six bytes for one of them, and an API server reads no more than 3 MiB.
MAX_TOGETHER: Final = 400 * 1024
# What an API server notes down about each of them, roughly.
_EACH: Final = 64
# Steps whose text in Python is shorter are short enough in YAML too: at most 64 levels, each of
# which may add an indentation of two to every value.
_SURELY_SHORT: Final = MAX_BYTES // 130
_PIPELINE: Final = f"# pipelines/ocr.yaml\nimage: {EXAMPLE_IMAGE}\n"

Where = tuple[str | int, ...]


@settings_rule(
    Rule(
        code="P010",
        name="too-much-text",
        what="Each variable and each word of a command takes at most "
        f"{MAX_LINE // 1024} KiB, those of a pipeline at most {MAX_TOGETHER // 1024} KiB together, "
        f"and its steps at most {MAX_BYTES // 1024} KiB.",
        why="Linux starts no process with a word or variable of more than 128 KiB, and an API "
        "server takes no Job above 1.5 MiB and no ConfigMap above 1 MiB.",
        wrong=f"{_PIPELINE}command: [ocr]\nargs: [page-1, …, page-80000]\n",
        right=f"{_PIPELINE}command: [ocr]\nargs: [--pages, 1-80000]\n",
        since="0.1.0",
    )
)
def _too_much_text(known: Known) -> Iterator[Finding]:
    yield from _long_words(SETTINGS_FILE, known.settings)
    for pipeline in known.pipelines.values():
        yield from _long_words(pipeline.path, pipeline)
        yield from _long_together(pipeline, known.settings)
        yield from _long_steps(pipeline)


def _long_words(path: str, file: Pipeline | Settings) -> Iterator[Finding]:
    for where, word in _words(file):
        size = _size(word)
        if size > MAX_LINE:
            yield Finding(
                path,
                where,
                f"this takes {_kib(size)} KiB, more than the {MAX_LINE // 1024} KiB that fit into "
                "one argument or variable",
                "put it into the image or into steps, or name a file that holds it",
            )


def _long_together(pipeline: Pipeline, settings: Settings) -> Iterator[Finding]:
    env = [text for _, text in _variables({**settings.env, **pipeline.env})]
    command = settings.command if pipeline.command is None else pipeline.command
    warmup = pipeline.warmup or settings.warmup or Warmup()
    fetching = warmup.command or (settings.warmup or warmup).command
    for what, words in (
        ("command, args and env", (*command, *pipeline.args, *env)),
        ("the warm-up's command and args, and env,", (*fetching, *warmup.args, *env)),
    ):
        size = sum(_size(word) + _EACH for word in words)
        if size > MAX_TOGETHER:
            yield Finding(
                pipeline.path,
                None,
                f"{what} take {_kib(size)} KiB together, with {_EACH} bytes for each of them, "
                f"more than {MAX_TOGETHER // 1024} KiB",
                "put what is long into the image or into steps, or name a file that holds it",
            )
            return


def _long_steps(pipeline: Pipeline) -> Iterator[Finding]:
    if pipeline.steps is None or len(repr(pipeline.steps)) <= _SURELY_SHORT:
        return
    # Hardly ever needed, and not cheap to import.
    from converter.render.text import yaml_text

    size = _size(yaml_text({"steps": pipeline.steps}))
    if size > MAX_BYTES:
        yield Finding(
            pipeline.path,
            ("steps",),
            f"steps take {_kib(size)} KiB, more than the {MAX_BYTES // 1024} KiB that fit into a "
            "ConfigMap",
            "put what is long into the image, or name a file that holds it",
        )


def _words(file: Pipeline | Settings) -> Iterator[tuple[Where, str]]:
    """Every variable, with its name, and every word of a command, and where each stands."""
    yield from _entries(("command",), file.command or ())
    yield from _entries(("args",), getattr(file, "args", ()))
    yield from _variables(file.env)
    if file.warmup is not None:
        yield from _entries(("warmup", "command"), file.warmup.command)
        yield from _entries(("warmup", "args"), file.warmup.args)


def _entries(where: Where, words: Sequence[str]) -> Iterator[tuple[Where, str]]:
    for index, word in enumerate(words):
        yield (*where, index), word


def _variables(env: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    for name, value in env.items():
        yield ("env", name), f"{name}={value}"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _kib(size: int) -> int:
    return -(-size // 1024)
