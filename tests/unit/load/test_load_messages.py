"""What the loader says about a mistake, and where it says that it is."""

from pathlib import Path

import pytest
from unit.load.repositories import CAMPAIGN, lines, load

HEAD = "pipeline: ocr\nvolumes:\n"

CAMPAIGN_MISTAKES = [
    (
        "pipline: ocr\nvolumes: [a]\n",
        ["1:1: F004 unknown key pipline — did you mean pipeline?"],
    ),
    (
        CAMPAIGN + "name: spring\n",
        ["3:1: F004 unknown key name — remove it: the name of the file is the name"],
    ),
    (
        CAMPAIGN + "id: spring\n",
        ["3:1: F004 unknown key id — remove it: the name of the file is the name"],
    ),
    (
        "window: 3\n",
        [
            "1:1: F006 the key pipeline is missing — add pipeline: the pipeline that processes "
            "each volume: the name of a file in pipelines/, without .yaml",
            "1:1: F006 the key volumes is missing — add volumes: the work items, one pod each",
        ],
    ),
    (
        "foo: 3\nvolumes: [a]\n",
        [
            "1:1: F004 unknown key foo — remove it; the keys here are pipeline, volumes, priority, "
            "window, min_window and suspend",
            "1:1: F006 the key pipeline is missing — add pipeline: the pipeline that processes "
            "each volume: the name of a file in pipelines/, without .yaml",
        ],
    ),
    (
        HEAD + "  - {}\n",
        [
            "3:5: F006 volumes, entry 1 has none of source, manifest and images — add one of them",
            "3:5: F006 volumes, entry 1: the key id is missing — add id: the name of the volume",
        ],
    ),
    (
        "pipeline: {{ p }}\nvolumes: [a]\n",
        [
            "1:11: F005 pipeline is a mapping — write text; put text that begins with { in quotes",
        ],
    ),
    (
        HEAD + f"  - {'a_' * 32}\n",
        [
            f'3:5: F005 volumes, entry 1: "{("a_" * 32)[:59]}…" is not valid — write letters, '
            "digits, '-', '_' and '.', with a letter or digit at both ends, at most 63 characters"
        ],
    ),
    (
        CAMPAIGN + "1: a\n",
        [
            "3:1: F004 unknown key 1 — remove it; the keys here are pipeline, "
            "volumes, priority, window, min_window and suspend"
        ],
    ),
    (
        "volumes: [a]\n",
        [
            "1:1: F006 the key pipeline is missing — add pipeline: the pipeline that processes "
            "each volume: the name of a file in pipelines/, without .yaml"
        ],
    ),
    (
        CAMPAIGN + "window: 2\nwindow: 3\n",
        ["4:1: F003 the key window is in lines 3 and 4 — keep one of them"],
    ),
    (
        "{pipeline: ocr, volumes: [a], pipeline: ocr}\n",
        ["1:31: F003 the key pipeline is in line 1 twice — keep one of them"],
    ),
    (
        CAMPAIGN + 'window: "3"\n',
        ['3:9: F005 window is "3": quotes make it text — write 3 without quotes'],
    ),
    (CAMPAIGN + "window: true\n", ["3:9: F005 window is true — write a whole number"]),
    (
        CAMPAIGN + "window: 0\n",
        ["3:9: F005 window is 0 — write a number from 1 to 2147483647"],
    ),
    (
        CAMPAIGN + "window: 20.0\n",
        ["3:9: F005 window is 20.0 — write 20"],
    ),
    (
        CAMPAIGN + "window: 0x10\n",
        ["3:9: F005 window is 0x10 — write 16"],
    ),
    (CAMPAIGN + "window: 1_000\n", ["3:9: F005 window is 1_000 — write 1000"]),
    (CAMPAIGN + "window: 1e2\n", ["3:9: F005 window is 1e2 — write 100"]),
    (CAMPAIGN + "window: 012\n", ["3:9: F005 window is 012 — write 12 or 10"]),
    (CAMPAIGN + "window: 1.5\n", ["3:9: F005 window is 1.5 — write a whole number"]),
    (
        CAMPAIGN + "min_window: 99999999999999999999\n",
        ["3:13: F005 min_window is 99999999999999999999 — write a number from 1 to 2147483647"],
    ),
    (
        CAMPAIGN + "window: -1e30\n",
        ["3:9: F005 window is -1e30 — write a number from 1 to 2147483647"],
    ),
    (
        CAMPAIGN + "window: many\n",
        ['3:9: F005 window is the text "many" — write a whole number'],
    ),
    (CAMPAIGN + "window:\n", ["3:8: F005 window is empty — write a whole number"]),
    (CAMPAIGN + "suspend: yes\n", ["3:10: F005 suspend is yes — write true"]),
    (CAMPAIGN + "suspend: Off\n", ["3:10: F005 suspend is Off — write false"]),
    (
        CAMPAIGN + "suspend: 'true'\n",
        ['3:10: F005 suspend is "true": quotes make it text — write true without quotes'],
    ),
    (CAMPAIGN + "suspend: 1\n", ["3:10: F005 suspend is 1 — write true or false"]),
    (
        CAMPAIGN + "priority: [high]\n",
        ["3:11: F005 priority is a list — write text"],
    ),
    (
        CAMPAIGN + "priority: High\n",
        [
            '3:11: F005 priority: "High" is not valid — write lower-case letters, digits, '
            "'-' and '.', or \"\" for none, at most 63 characters"
        ],
    ),
    (
        "pipeline: ocr\nvolumes: []\n",
        ["2:10: F005 volumes is empty — add at least one entry"],
    ),
    (
        "pipeline: ocr\nvolumes: -a -b\n",
        [
            '2:10: F005 volumes is the text "-a -b" — write a list: each entry in a line of its '
            "own after - and a space, or [a, b]"
        ],
    ),
    (
        "pipeline: ocr\nvolumes: [~]\n",
        [
            "2:11: F007 volumes, entry 1: YAML reads ~ as nothing (null) — remove it, or put it in "
            'quotes: "~"'
        ],
    ),
    (
        "pipeline: ''\nvolumes: [a]\n",
        ["1:11: F005 pipeline is empty — write a value, or remove it"],
    ),
    (
        HEAD + "  - {id: a}\n",
        ["3:5: F006 volumes, entry 1 has none of source, manifest and images — add one of them"],
    ),
    (
        HEAD + "  - id: a\n    source: b\n    images: [http://c/d]\n",
        [
            "5:5: F005 volumes, entry 1 has source and images — "
            "keep one of source, manifest and images"
        ],
    ),
    (
        HEAD + "  - id: a\n    manfest: http://b/c\n",
        ["4:5: F004 volumes, entry 1: unknown key manfest — did you mean manifest?"],
    ),
    (
        HEAD + "  - a\n  - source: b\n",
        ["4:5: F006 volumes, entry 2: the key id is missing — add id: the name of the volume"],
    ),
    (
        HEAD + "  - id: a\n    source: |\n      b\n      c\n",
        [
            '4:13: F005 volumes, entry 1, source: "b c " is not valid — write one line of text '
            "without tabs that does not begin with 'images:'"
        ],
    ),
    (HEAD + "  - [a]\n", ["3:5: F005 volumes, entry 1 is a list — write text or a mapping"]),
    (
        HEAD + "  - a_\n",
        [
            "3:5: F005 volumes, entry 1: \"a_\" is not valid — write letters, digits, '-', '_' "
            "and '.', with a letter or digit at both ends, at most 63 characters"
        ],
    ),
    (
        HEAD + f"  - {'a' * 64}\n",
        [f'3:5: F005 volumes, entry 1: "{"a" * 59}…" has 64 characters — write at most 63'],
    ),
    (
        HEAD + "  - {id: a, source: b, env: {1A: c, B: 1}}\n",
        [
            '3:30: F005 volumes, entry 1, env: the key "1A" is not a valid name — write '
            "letters, digits and '_', not beginning with a digit",
            "3:40: F007 volumes, entry 1, env, B: YAML reads 1 as the number 1 — "
            'put it in quotes: "1"',
        ],
    ),
    ("", ["1:1: F005 the file is empty — write a mapping"]),
    ("# nothing\n", ["1:1: F005 the file is empty — write a mapping"]),
    ("- a\n", ["1:1: F005 the file is a list — write a mapping"]),
    (
        CAMPAIGN + "? [a]\n: b\n",
        [
            "3:3: F005 a key is a list — write text as the key",
        ],
    ),
]


@pytest.mark.parametrize(("text", "expected"), CAMPAIGN_MISTAKES)
def test_a_mistake_in_a_campaign_is_one_line(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    assert lines(load(tmp_path, campaign=text)) == expected


SETTINGS_MISTAKES = [
    ("# nothing yet\n", ["1:1: F005 the file is empty — write a mapping"]),
    ("- namespace: team\n", ["1:1: F005 the file is a list — write a mapping"]),
    (
        "namespace: team\n",
        [
            "1:1: F006 the key queue is missing — add queue: the queue that campaigns wait in: "
            "with Kueue, the name of a LocalQueue"
        ],
    ),
    (
        "namespace: team\nbackend: kuee\nqueue: q\n",
        ['2:10: F005 backend is "kuee" — did you mean kueue?'],
    ),
    (
        "namespace: team\nqueue: q\nreactivate: no\n",
        ['3:13: F005 reactivate is "no" — write always or never'],
    ),
    (
        "namespace: team\nqueue: q\nreactivate: []\n",
        ["3:13: F005 reactivate is a list — write text"],
    ),
    (
        "namespace: team\nqueue: q\nresults_url: http://a\npublic_results_base: http://a\n",
        [
            "4:1: F005 results_url and public_results_base are two names of one setting — "
            "keep one of them"
        ],
    ),
    (
        "namespace: team\nqueue: q\npriority_classes: [a, b, a]\n",
        ['3:26: F005 priority_classes, entry 3: "a" is entry 1 — remove one of them'],
    ),
    (
        "namespace: team\nqueue: q\ntolerations: [{key: node-role.kubernetes.io/master}]\n",
        [
            "3:21: F005 tolerations, entry 1, key: campaigns may not run on control-plane nodes "
            "— remove this toleration"
        ],
    ),
    (
        "namespace: team\nqueue: q\ntolerations: [{operator: Exists}]\n",
        ["3:15: F006 tolerations, entry 1: the key key is missing — add key: key of the taint"],
    ),
    (
        "namespace: team\nqueue: q\ntolerations: [{key: a, operator: Exists, value: b}]\n",
        [
            "3:49: F005 tolerations, entry 1, value: operator Exists tolerates every value — "
            "remove value, or use operator Equal"
        ],
    ),
    (
        "namespace: team\nqueue: q\ntolerations: [{key: a, tolerationSeconds: 3}]\n",
        [
            "3:43: F005 tolerations, entry 1, tolerationSeconds: tolerationSeconds has a meaning "
            "for effect NoExecute only — remove it, or set that effect"
        ],
    ),
    (
        "namespace: team\nqueue: q\nsource_template: https://a/{ref}/{ref}\n",
        [
            '3:18: F005 source_template: "https://a/{ref}/{ref}" is not valid — write one line of '
            "text with {ref} in it exactly once and no other braces, not beginning with 'images:'"
        ],
    ),
    (
        "namespace: team\nqueue: q\nsource_template: images:{ref}\n",
        [
            '3:18: F005 source_template: "images:{ref}" is not valid — write one line of text with '
            "{ref} in it exactly once and no other braces, not beginning with 'images:'"
        ],
    ),
    (
        "namespace: team\nbackend: slrm\n",
        ['2:10: F005 backend is "slrm" — did you mean slurm?'],
    ),
    (
        "namespace: team\nbackend: kueue\n",
        [
            "1:1: F006 the key queue is missing — add queue: the queue that campaigns wait in: "
            "with Kueue, the name of a LocalQueue"
        ],
    ),
    (
        "namespace: team\nqueue: q\nsizes: {l: {}}\n",
        [
            "3:12: F006 sizes, l: the key cpu is missing — add cpu: CPU cores, for example 4 or "
            "500m",
            "3:12: F006 sizes, l: the key memory is missing — add memory: memory, for example 16Gi",
        ],
    ),
    (
        "namespace: team\nqueue: q\nquota: {cpu: 1, memory: 1Gi, gpu: 1, cores: 1}\n",
        [
            "3:30: F004 quota: unknown key gpu — did you mean nvidia.com/gpu?",
            "3:38: F004 quota: unknown key cores — remove it; the keys here are cpu, memory and "
            "nvidia.com/gpu",
        ],
    ),
    (
        "namespace: team\nqueue: q\nquota: {cpu: 1}\n",
        [
            "3:8: F006 quota: the key memory is missing — add memory: memory that campaigns may "
            "use at once, for example 256Gi"
        ],
    ),
    (
        "namespace: team\nqueue: q\nallowed_image_repos: [a]\n",
        [
            "3:1: F004 unknown key allowed_image_repos — remove it: admission policies of the "
            "cluster decide that"
        ],
    ),
    (
        "namespace: team\nqueue: q\nrequire_model_revision: true\n",
        [
            "3:1: F004 unknown key require_model_revision — remove it: admission policies of the "
            "cluster decide that"
        ],
    ),
    (
        "namespace: team\nqueue: q\nqueues: q\n",
        [
            "3:1: F004 unknown key queues — remove it; `campaigns schema converter` prints the "
            "keys that there are"
        ],
    ),
    (
        "namespace: team\nqueue: q\nsizes: {small: {cpu: -1, memory: 8GB, gpu: true}}\n",
        [
            "3:22: F005 sizes, small, cpu is -1 — write at least 0",
            '3:34: F005 sizes, small, memory: "8GB" is not valid — did you mean 8G or 8Gi?',
            "3:44: F005 sizes, small, gpu is true — write a whole number",
        ],
    ),
    (
        "namespace: team\nqueue: q\nsizes: {small: {cpu: 2 cores, mem: 256mb}}\n",
        [
            '3:22: F005 sizes, small, cpu: "2 cores" is not valid — write an amount such as 4, '
            "500m or 16Gi, at most 32 characters",
            "3:31: F004 sizes, small: unknown key mem — did you mean memory?",
        ],
    ),
    (
        "namespace: team\nqueue: q\nsizes: {small: {cpu: 1, memory: 1_000}}\n",
        ['3:33: F007 some YAML readers take 1_000 for the number 1000 — write 1000 or "1_000"'],
    ),
    (
        "namespace: team\nqueue: q\nsizes: {small: {cpu: 1e-4, memory: 010}}\n",
        [
            '3:22: F007 some YAML readers take 1e-4 for the number 0.0001 — write 1.0e-4 or "1e-4"',
            "3:36: F007 some YAML readers take 010 for the number 8 (octal) — "
            'write 10 or 8 or "010"',
        ],
    ),
    (
        "namespace: team\nqueue: q\nsizes: {small: {cpu: yes, memory: 2024-01-31}}\n",
        [
            '3:22: F007 some YAML readers take yes for true — write true or "yes"',
            '3:35: F007 some YAML readers take 2024-01-31 for a date — write "2024-01-31"',
        ],
    ),
    (
        "namespace: team\nqueue: q\nsecrets: {token: secrets/token}\n",
        [
            '3:18: F005 secrets, token: "secrets/token" is not valid — write an absolute path such '
            "as /secrets/token, without ':', '.' or '..', at most 4096 characters"
        ],
    ),
    (
        "namespace: team\nqueue: q\nsuspend: yes\n",
        [
            "3:1: F004 unknown key suspend — remove it; `campaigns schema converter` prints the "
            "keys that there are"
        ],
    ),
    (
        "namespace: team\nqueue: q\nenv: {NO: a}\n",
        ['3:7: F007 YAML reads the key NO as false — put it in quotes: "NO"'],
    ),
]


@pytest.mark.parametrize(("text", "expected"), SETTINGS_MISTAKES)
def test_a_mistake_in_the_settings_is_one_line(
    text: str, expected: list[str], tmp_path: Path
) -> None:
    assert lines(load(tmp_path, settings=text)) == expected


@pytest.mark.parametrize("name", ["name", "id"])
def test_a_pipeline_is_named_by_its_file(name: str, tmp_path: Path) -> None:
    assert lines(load(tmp_path, pipeline=f"{name}: ocr\nimage: a:1\n")) == [
        f"1:1: F004 unknown key {name} — remove it: the name of the file is the name"
    ]


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("http://a", True),
        ("https://me:secret@a.example:65535/b?c#d", True),
        ("http://[::1]:080/", True),
        ("http://é.example?b", True),
        ("http://", False),
        ("http:///a", False),
        ("http://:99999/x", False),
        ("http://:80/x", False),
        ("http://a:65536/", False),
        ("http://a:b/", False),
        ("http://a:/", False),
        ("http://[::1/", False),
        ("http://a]/", False),
        ("http://me@/", False),
        ("http://a b/", False),
    ],
)
def test_a_url_has_a_host_and_a_port_that_there_is(url: str, right: bool, tmp_path: Path) -> None:
    manifest = load(tmp_path, campaign=HEAD + f"  - {{id: a, manifest: '{url}'}}\n")
    results = load(tmp_path, settings=f"namespace: team\nqueue: q\nresults_url: '{url}'\n")
    assert (lines(manifest) == [], lines(results)[-1:] == []) == (right, right)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://me:secret@example.org/a b", "https://***@example.org/a b"),
        ("https://a/b c?X-Amz-Signature=abc&n=1", "https://a/b c?X-Amz-Signature=***&n=1"),
        ("https://a/ ?TOKEN=abc", "https://a/ ?TOKEN=***"),
        ("https://a/ ?n=1&sig=abc&key=d#e", "https://a/ ?n=1&sig=***&key=***#e"),
        ("https://a/ ?signature=abc", "https://a/ ?signature=***"),
    ],
)
def test_a_message_shows_no_secret_of_a_url(url: str, shown: str, tmp_path: Path) -> None:
    text = HEAD + f"  - id: a\n    manifest: '{url}'\n"
    (problem,) = load(tmp_path, campaign=text).problems
    assert f'"{shown}"' in problem.message


def test_a_secret_is_hidden_before_a_long_value_is_cut(tmp_path: Path) -> None:
    url = f"https://a/ {'x' * 30}?token=" + "s" * 100
    (problem,) = load(tmp_path, campaign=HEAD + f"  - {{id: a, manifest: '{url}'}}\n").problems
    assert "sss" not in str(problem)


def test_a_message_is_one_line_without_control_characters(tmp_path: Path) -> None:
    text = HEAD + '  - "a\\tb\\r\\n\\e[31mc\\u202e"\n'
    (line,) = lines(load(tmp_path, campaign=text))
    assert line.startswith('3:5: F005 volumes, entry 1: "a b [31mc " is not valid')


def test_all_mistakes_of_all_files_are_found_in_one_run(tmp_path: Path) -> None:
    result = load(
        tmp_path,
        settings="queue: [q]\n",
        pipeline="imge: a\n",
        campaign="pipeline: 1\nvolumes: [0012, {id: a}]\nwindow: x\n",
    )
    assert [(p.path, p.line, p.column, p.code) for p in result.problems] == [
        ("campaigns/spring.yaml", 1, 11, "F007"),
        ("campaigns/spring.yaml", 2, 11, "F007"),
        ("campaigns/spring.yaml", 2, 17, "F006"),
        ("campaigns/spring.yaml", 3, 9, "F005"),
        ("converter.yaml", 1, 1, "F006"),
        ("converter.yaml", 1, 8, "F005"),
        ("pipelines/ocr.yaml", 1, 1, "F004"),
    ]
    assert result.broken == {"campaigns/spring.yaml", "converter.yaml", "pipelines/ocr.yaml"}
