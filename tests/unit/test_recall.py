"""Checking what changed finds what checking everything finds."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from unit.checks.test_rule_snippets import write as write_snippet

from converter import cache, recall
from converter.checks import check, registry
from converter.checks.registry import Finding, registered_rules
from converter.load import LoadResult, load_repo, quick
from converter.rule import Rule

SETTINGS = "namespace: team\nqueue: batch\ncommand: [ocr]\npriority_classes: [urgent]\n"
PIPELINE = f"image: registry.example.com/ocr@sha256:{'0' * 64}\n"
UNRELATED = "pipeline: ocr\nvolumes: [unrelated-{0}-1, unrelated-{0}-2]\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A valid repository of four campaigns."""
    root = tmp_path / "repository"
    for directory in ("campaigns", "pipelines"):
        (root / directory).mkdir(parents=True)
    (root / "converter.yaml").write_text(SETTINGS)
    (root / "pipelines/ocr.yaml").write_text(PIPELINE)
    for number in range(4):
        (root / f"campaigns/unrelated-{number}.yaml").write_text(UNRELATED.format(number))
    return root


def assert_same(root: Path) -> int:
    """How many problems there are, by both ways."""
    whole = load_repo(root)
    loaded, found, _ = recall.recall(root)
    assert check(loaded, known=found) == check(whole)
    assert dict(loaded.campaigns) == whole.campaigns
    assert list(loaded.campaigns) == list(whole.campaigns)
    assert (loaded.settings, loaded.pipelines) == (whole.settings, whole.pipelines)
    assert (loaded.broken, loaded.comments) == (whole.broken, whole.comments)
    assert set(loaded.positions) == set(whole.positions)
    return len(check(whole))


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts of which the values were asked for."""
    texts: list[str] = []
    original = quick.read

    def counting(text: str) -> dict[str, Any] | None:
        texts.append(text)
        return original(text)

    monkeypatch.setattr(quick, "read", counting)
    return texts


@pytest.mark.parametrize("rule", list(registered_rules()), ids=lambda rule: rule.code)
def test_every_rule_finds_the_same(root: Path, rule: Rule) -> None:
    for number, snippet in enumerate((rule.right, rule.wrong)):
        write_snippet(root, snippet)
        assert_same(root)
        # By a change of another campaign alone, with nothing of its own.
        (root / "campaigns/unrelated-0.yaml").write_text(UNRELATED.format(f"again-{number}"))
        assert_same(root)


def test_only_what_changed_is_read(root: Path, read: list[str]) -> None:
    recall.recall(root)
    assert len(read) == 6
    read.clear()
    changed = UNRELATED.format("new")
    (root / "campaigns/unrelated-2.yaml").write_text(changed)
    loaded, found, _ = recall.recall(root)
    assert read == [SETTINGS, PIPELINE, changed]
    assert check(loaded, known=found) == ()
    assert loaded.repo is not None
    assert len(loaded.campaigns) == 4
    assert len(read) == 3
    assert loaded.campaigns["unrelated-3"].volumes[0].id == "unrelated-3-1"
    assert len(read) == 4
    assert loaded.positions["campaigns/unrelated-3.yaml"].value("volumes", 1) == (2, 26)


def test_what_it_is_linked_to_is_read_too(root: Path, read: list[str]) -> None:
    """Also what it was linked to before it changed."""
    shared = "pipeline: ocr\nvolumes: [unrelated-1-1]\n"
    (root / "campaigns/zzz.yaml").write_text(shared)
    assert assert_same(root) == 1
    read.clear()
    (root / "campaigns/zzz.yaml").unlink()
    _, found, _ = recall.recall(root)
    assert (found, len(read)) == ((), 3)
    (root / "campaigns/aaa.yaml").write_text(shared)
    assert assert_same(root) == 1


def test_a_chain_of_links_is_followed_to_its_end(root: Path) -> None:
    for number in range(20):
        volumes = f"[chain-{number}, chain-{number + 1}]"
        (root / f"campaigns/chain-{number:02}.yaml").write_text(
            f"pipeline: ocr\nvolumes: {volumes}\nwindow: 1 # campaigns: ignore=C010 on purpose\n"
        )
    assert_same(root)
    (root / "campaigns/chain-00.yaml").write_text("pipeline: ocr\nvolumes: [chain-1, chain-20]\n")
    assert_same(root)


def test_a_change_that_leaves_size_and_time_is_noticed(root: Path) -> None:
    file = root / "campaigns/unrelated-1.yaml"
    before = file.stat()
    assert assert_same(root) == 0
    file.write_text(file.read_text().replace("ocr", "orc"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert assert_same(root) == 1


@pytest.mark.parametrize("path", ["converter.yaml", "pipelines/ocr.yaml"])
def test_what_all_campaigns_depend_on_may_change(root: Path, path: str) -> None:
    assert assert_same(root) == 0
    (root / path).write_text("window: 1\n")
    assert assert_same(root) > 0
    (root / path).unlink()
    assert assert_same(root) > 0
    (root / path).mkdir()
    assert assert_same(root) > 0


def test_what_another_release_noted_is_not_used(
    root: Path, monkeypatch: pytest.MonkeyPatch, read: list[str]
) -> None:
    recall.recall(root)
    read.clear()
    monkeypatch.setattr(recall, "__version__", "9.9.9")
    recall.recall(root)
    assert len(read) == 6


def test_a_note_of_another_form_is_not_used(root: Path) -> None:
    recall.recall(root)
    subject = os.path.realpath(root)
    note = cache.read(subject)
    assert note is not None
    cache.write(subject, {"key": note["key"], "campaigns": b""})
    assert assert_same(root) == 0
    cache.write(subject, {})
    assert assert_same(root) == 0


def test_a_name_that_is_no_text(root: Path) -> None:
    (root / "campaigns" / os.fsdecode(b"\xff.yaml")).write_text("pipeline: ocr\nvolumes: [a]\n")
    for _ in range(2):
        assert assert_same(root) == 1


@pytest.mark.parametrize(
    "campaigns",
    [[], {1: (b"", b"")}, {"a": b""}, {"a": (b"",)}, {"a": (b"", b"odd")}, {"a": (b"", "")}],
)
def test_a_note_that_somebody_else_wrote_is_not_used(root: Path, campaigns: Any) -> None:
    assert_same(root)
    subject = os.path.realpath(root)
    note = cache.read(subject)
    assert note is not None
    cache.write(subject, {"key": note["key"], "campaigns": campaigns})
    assert assert_same(root) == 0


def test_a_rule_that_counts_campaigns_is_always_given_all(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a rule breaks what is said of rules; then nothing is noted, and all are checked."""

    def unused_pipeline(loaded: LoadResult) -> Iterator[Finding]:
        used = {campaign.pipeline for campaign in loaded.campaigns.values()}
        for pipeline in loaded.pipelines.values():
            if pipeline.id not in used:
                yield Finding(pipeline.path, None, "not used", "remove it")

    some_rule = next(registered_rules())
    monkeypatch.setattr(
        registry, "_FILES_CHECKS", [*registry._FILES_CHECKS, (some_rule, unused_pipeline)]
    )
    assert assert_same(root) == 0
    (root / "campaigns/unrelated-0.yaml").unlink()
    assert assert_same(root) == 0
    (root / "pipelines/spare.yaml").write_text(PIPELINE)
    assert assert_same(root) == 1


@pytest.mark.parametrize("seed", range(6))
def test_any_history_of_a_repository(root: Path, seed: int) -> None:
    random = Random(seed)  # noqa: S311 - no secret depends on it
    for _ in range(40):
        random.choice(CHANGES)(random, root)
        assert_same(root)


def _some_campaign(random: Random, root: Path) -> Path:
    name = random.choice(("a", "b", "c", "d", "x" * 55 + "a", "x" * 55 + "b", "Bad", "e-part2"))
    return root / f"campaigns/{name}.yaml"


def _write(random: Random, root: Path) -> None:
    volumes = random.choices([f"v{number}" for number in range(12)], k=random.randint(1, 4))
    lines = [f"pipeline: {random.choice(('ocr', 'ocr', 'ocr', 'tei'))}", f"volumes: {volumes}"]
    lines += random.sample(["priority: urgent", "priority: no", "window: 2", "windw: 2"], 1)
    lines += random.choice(([], [], ["# campaigns: ignore=C010 meant"], ["steps: ["]))
    file = _some_campaign(random, root)
    _remove(file)
    file.write_text("\n".join(lines) + "\n")


def _delete(random: Random, root: Path) -> None:
    _remove(_some_campaign(random, root))


def _remove(file: Path) -> None:
    if file.is_dir() and not file.is_symlink():
        file.rmdir()
    else:
        file.unlink(missing_ok=True)


def _odd(random: Random, root: Path) -> None:
    file = _some_campaign(random, root)
    _remove(file)
    match random.randrange(4):
        case 0:
            file.mkdir()
        case 1:
            file.symlink_to(random.choice(("unrelated-1.yaml", "/etc/passwd", "nowhere")))
        case 2:
            file.write_bytes(b"pipeline: \xff\n")
        case 3:
            os.mkfifo(file)


def _misname(random: Random, root: Path) -> None:
    file = _some_campaign(random, root)
    if file.is_file():
        file.rename(file.with_suffix(".yml"))
    for other in root.glob("campaigns/*.yml"):
        if random.random() < 0.5:
            _remove(other)


def _other_settings(random: Random, root: Path) -> None:
    (root / "converter.yaml").write_text(
        SETTINGS + random.choice(("", "window: 1\n", "windw: 1\n", "backend: none\n", "["))
    )


def _other_pipeline(random: Random, root: Path) -> None:
    file = root / f"pipelines/{random.choice(('ocr', 'tei'))}.yaml"
    _remove(file)
    if random.random() < 0.8:
        file.write_text(PIPELINE + random.choice(("", "size: no\n", "max_seconds: 5\n", "x: 1\n")))


CHANGES: list[Callable[[Random, Path], None]] = [
    *(_write, _write, _write, _write, _write, _delete, _delete, _odd, _misname),
    *(_other_settings, _other_pipeline),
]
