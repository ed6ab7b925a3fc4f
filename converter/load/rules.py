"""The rules about files: those that loading keeps, F001 to F008, and those about comments."""

from typing import Final

from converter.problem import Level
from converter.rule import Rule

RULES: Final = (
    Rule(
        code="F001",
        name="unreadable-file",
        what="A file of the repository is UTF-8 text of at most 32 MiB that lies inside it.",
        why="Other encodings are read differently by every tool, and a symbolic link that leaves "
        "the repository would put files of the machine into the cluster.",
        wrong="# campaigns/spring.yaml\n# saved as Latin-1\n"
        "pipeline: caf\N{LATIN SMALL LETTER E WITH ACUTE}\n"
        "volumes: [A0001]\n",
        right="# campaigns/spring.yaml\n# saved as UTF-8\n"
        "pipeline: caf\N{LATIN SMALL LETTER E WITH ACUTE}\n"
        "volumes: [A0001]\n",
        since="0.1.0",
    ),
    Rule(
        code="F002",
        name="not-yaml",
        what="A file is one YAML document without tags, at most 64 levels deep and with at most "
        "2,000,000 values when its aliases are expanded.",
        why="A file that is cut off or badly indented would start other work than was meant, and "
        "one of a few lines can expand to more than fits into memory.",
        wrong="# campaigns/spring.yaml\npipeline: ocr\nvolumes:\n\t- A0001\n",
        right="# campaigns/spring.yaml\npipeline: ocr\nvolumes:\n  - A0001\n",
        since="0.1.0",
    ),
    Rule(
        code="F003",
        name="duplicate-key",
        what="A key is in a mapping once.",
        why="YAML readers take the last of two values and say nothing, so that the one in front of "
        "the reader may be the one that does not count. What is merged in by << may be overridden.",
        wrong="# campaigns/spring.yaml\npipeline: ocr\nvolumes: [A0001]\nwindow: 2\nwindow: 20\n",
        right="# campaigns/spring.yaml\npipeline: ocr\nvolumes: [A0001]\nwindow: 20\n",
        since="0.1.0",
    ),
    Rule(
        code="F004",
        name="unknown-key",
        what="A mapping has only keys that are documented.",
        why="A misspelt key would be ignored: a campaign that was to be paused would run.",
        wrong="# campaigns/spring.yaml\npipeline: ocr\nvolumes: [A0001]\nsuspended: true\n",
        right="# campaigns/spring.yaml\npipeline: ocr\nvolumes: [A0001]\nsuspend: true\n",
        since="0.1.0",
    ),
    Rule(
        code="F005",
        name="wrong-value",
        what="A value has the type and the form that its key takes.",
        why="The cluster would refuse it after the merge, or take it for something else.",
        wrong='# campaigns/spring.yaml\npipeline: ocr\nvolumes: [A0001]\nwindow: "20"\n',
        right="# campaigns/spring.yaml\npipeline: ocr\nvolumes: [A0001]\nwindow: 20\n",
        since="0.1.0",
    ),
    Rule(
        code="F006",
        name="missing-key",
        what="A mapping has the keys that nothing can stand in for.",
        why="Without a pipeline nothing can run, and a volume without a source has no material.",
        wrong="# campaigns/spring.yaml\nvolumes: [A0001]\n",
        right="# campaigns/spring.yaml\npipeline: ocr\nvolumes: [A0001]\n",
        since="0.1.0",
    ),
    Rule(
        code="F007",
        name="misread-text",
        what="Text that YAML reads as a number, a date, true, false or nothing is in quotes.",
        why="The leading zeros of 0012 and the last digit of 1.10 are gone once YAML has read "
        "them, and the work would be done on another volume, or on none.",
        wrong="# campaigns/spring.yaml\npipeline: ocr\nvolumes: [0012]\n",
        right='# campaigns/spring.yaml\npipeline: ocr\nvolumes: ["0012"]\n',
        since="0.1.0",
    ),
    Rule(
        code="F008",
        name="misplaced-file",
        what="There is a converter.yaml, and no converter.yml; campaigns/ and pipelines/ have "
        "these names and no directories in them, and their files end in .yaml, not .yml.",
        why="Such a file would not be read, and apply --prune would take its campaign for one "
        "that has been cancelled.",
        wrong="# campaigns/spring.yml\npipeline: ocr\nvolumes: [A0001]\n",
        right="# campaigns/spring.yaml\npipeline: ocr\nvolumes: [A0001]\n",
        since="0.1.0",
    ),
)

UNUSED_IGNORE: Final = Rule(
    code="F009",
    name="unused-ignore",
    what="A comment that ignores a rule has something to ignore.",
    why="Left behind, it would hide the next mistake in its place. Nothing is said of it while a "
    "file is broken or the rule cannot be looked at.",
    wrong="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n"
    "  - letters-1871  # campaigns: ignore=C010 the first scan was bad\n",
    right="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n  - letters-1871\n",
    since="0.1.0",
    level=Level.WARNING,
    ignorable=True,
)
BAD_IGNORE: Final = Rule(
    code="F010",
    name="bad-ignore",
    what="A comment that ignores a rule names rules that can be ignored, and says why.",
    why="A comment that is not understood ignores nothing, and a decision whose reason nobody "
    "wrote down cannot be reviewed.",
    wrong="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n"
    "  - letters-1871  # campaigns: ignore=C010\n",
    right="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n"
    "  - letters-1871\n"
    "# campaigns/letters-2.yaml\npipeline: ocr\nvolumes:\n"
    "  - letters-1871  # campaigns: ignore=C010 the first scan was bad\n",
    since="0.1.0",
)
