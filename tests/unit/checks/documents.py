"""Files of a repository as hypothesis makes them: most are valid, and all are odd."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
# Not one of the words and numbers that YAML reads as something else than text.
WORD = TEXT.map("x{}".format)
LINE = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=30)
ENV = st.dictionaries(st.from_regex(r"X_[A-Z0-9_]{0,8}", fullmatch=True), WORD, max_size=3)
NAME = st.from_regex(r"x(-?[a-z0-9]){0,20}(\.[a-z0-9]{1,20}){0,2}", fullmatch=True)
SHORT = st.from_regex(r"x(-?[a-z0-9]){0,20}", fullmatch=True)
KEY = st.from_regex(
    r"(x(-?[a-z0-9]){0,30}(\.[a-z]{1,30}){0,3}/)?x([-_.]{0,2}[A-Za-z0-9]){0,20}", fullmatch=True
)
VALUE = st.from_regex(r"(x([-_.]{0,2}[A-Za-z0-9]){0,20})?", fullmatch=True)
COUNT = st.integers(11, 40) | st.integers(11, 2**31 - 1)
CPU = st.integers(1, 64) | st.from_regex(
    r"[1-9][0-9]{0,3}(\.[0-9]{1,4})?([KMGTPE]i|[numkMGTPE]|e[+-][0-9])", fullmatch=True
)
# More than any of WORKDIR, which is part of it.
MEMORY = st.from_regex(r"[1-9][0-9]{2}(\.[0-9]{1,4})?([GTP]i|[GTP]|e[+]9)", fullmatch=True)
WORKDIR = st.from_regex(r"[1-9][0-9]?(\.[0-9]{1,4})?([KMG]i|[numkMG]|e[+-][0-9])", fullmatch=True)
WORDS = st.lists(WORD, min_size=1, max_size=3)
WARMUP = st.fixed_dictionaries({"command": WORDS}, optional={"args": WORDS})
EFFECT = st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"])
SECONDS = st.integers(0, 2**63 - 1)
TOLERATION = st.one_of(
    st.fixed_dictionaries({"key": KEY}, optional={"value": VALUE, "effect": EFFECT}),
    st.fixed_dictionaries({"key": KEY, "operator": st.just("Exists")}, optional={"effect": EFFECT}),
    st.fixed_dictionaries(
        {"key": KEY, "effect": st.just("NoExecute"), "tolerationSeconds": SECONDS}
    ),
)
SIZE = st.fixed_dictionaries(
    {"cpu": CPU, "memory": MEMORY, "workdir": WORKDIR},
    optional={"gpu": st.integers(0, 2**31 - 1)},
)
MOUNT_PATH = st.from_regex(r"/m[-a-zA-Z0-9_. ]{0,8}(/[-a-zA-Z0-9_ ]{1,8}){0,2}/?", fullmatch=True)
SETTINGS = st.fixed_dictionaries(
    {
        "namespace": SHORT,
        "queue": NAME,
        "command": WORDS,
        "sizes": SIZE.map(lambda size: {"s": size}),
        "data_pvc": NAME,
    },
    optional={
        "window": st.integers(1, 40) | st.integers(1, 110_000),
        "env": ENV,
        "secrets": st.dictionaries(NAME, MOUNT_PATH, max_size=3),
        "runtime_class": NAME,
        "node_selector": st.dictionaries(KEY, VALUE, max_size=3),
        "tolerations": st.lists(TOLERATION, max_size=2),
        "priority_classes": st.lists(NAME, min_size=1, max_size=2, unique=True),
        "max_seconds": COUNT,
        "warmup_wait_seconds": COUNT,
        "ttl_seconds_after_finished": COUNT,
        "backoff_limit_per_index": st.integers(0, 2**31 - 1),
        "warmup": WARMUP,
        "repository": LINE.map("x{}".format),
        "s3_secret": NAME,
        "hf_token_secret": NAME,
        "results_url": st.just("https://results.example.com/a?b=$(c)"),
        "manifest_max_bytes": st.integers(1, 2**63 - 1),
        "image_cache": st.just({"bucket": "pages"}),
    },
)
STEPS = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PIPELINE = st.fixed_dictionaries(
    {"image": st.just("registry.example/ocr@sha256:" + "0" * 64)},
    optional={
        "command": WORDS,
        "args": WORDS,
        "env": ENV,
        "size": st.just("s"),
        "max_seconds": COUNT,
        "ttl_seconds_after_finished": COUNT,
        "steps": STEPS,
        "warmup": WARMUP,
    },
)
ID = st.from_regex(r"x([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", fullmatch=True)
VOLUME = st.fixed_dictionaries({"id": ID, "source": LINE.map("x{}".format)}, optional={"env": ENV})


def _id(volume: Any) -> str:
    return str(volume["id"] if isinstance(volume, dict) else volume)


CAMPAIGN = st.fixed_dictionaries(
    {"volumes": st.lists(ID | VOLUME, min_size=1, max_size=4, unique_by=_id)},
    optional={"window": COUNT, "min_window": st.just(1), "suspend": st.booleans()},
)


@st.composite
def repositories(draw: st.DrawFn) -> dict[str, Any]:
    """The documents of a repository by path: one pipeline and one campaign."""
    settings, pipeline, campaign = draw(SETTINGS), draw(PIPELINE), draw(CAMPAIGN)
    name, recipe = draw(SHORT), draw(NAME.filter(lambda name: len(name) <= 56))
    priorities: Any = settings.get("priority_classes")
    priority = {"priority": priorities[0]} if priorities else {}
    return {
        "converter.yaml": settings,
        f"pipelines/{recipe}.yaml": pipeline,
        f"campaigns/{name}.yaml": {"pipeline": recipe, **campaign, **priority},
    }
