"""When the digest of a campaign's inputs changes, and when it must not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from unit.render.samples import FULL_CAMPAIGN, FULL_PIPELINE, SIZED, repository

from converter.manifest import Role
from converter.model import Flavor, Repo, Size, SourceKind, Volume
from converter.names import INPUTS_ANNOTATION
from converter.render import campaign, render

BASE = repository(SIZED, FULL_PIPELINE, FULL_CAMPAIGN)


def _digest(repo: Repo) -> str:
    job = next(m for m in render(repo) if m.role is Role.CAMPAIGN)
    return str(job.body["metadata"]["annotations"][INPUTS_ANNOTATION])


def _settings(**changes: Any) -> Repo:
    return repository(replace(SIZED, **changes), FULL_PIPELINE, FULL_CAMPAIGN)


def _pipeline(**changes: Any) -> Repo:
    return repository(SIZED, replace(FULL_PIPELINE, **changes), FULL_CAMPAIGN)


def _campaign(**changes: Any) -> Repo:
    return repository(SIZED, FULL_PIPELINE, replace(FULL_CAMPAIGN, **changes))


def _size(**changes: Any) -> Repo:
    return _settings(sizes={"large": replace(SIZED.sizes["large"], **changes)})


FIRST, *REST = FULL_CAMPAIGN.volumes


@pytest.mark.parametrize(
    "repo",
    [
        _settings(backoff_limit_per_index=4),
        _settings(data_pvc="other"),
        _settings(env={"LOG": "debug", "MODE": "fast"}),
        _settings(fetch_max_bytes=1),
        _settings(flavors=(Flavor("a100", {"gpu": "a100-80"}), Flavor("t4", {"gpu": "t4"}))),
        _settings(image_cache="other"),
        _settings(manifest_max_bytes=1),
        _settings(node_selector={}),
        _settings(results_url=""),
        _settings(runtime_class=""),
        _settings(s3_secret="other"),  # noqa: S106 - the name of a Secret
        _settings(secrets={"archive-login": "/secrets/elsewhere"}),
        _settings(command=("other",)),
        _settings(source_template="s3://{ref}"),
        _settings(tolerations=()),
        _size(cpu="1"),
        _size(memory="33Gi"),
        _size(gpu=0),
        _size(workdir="5Gi"),
        _size(flavor="t4"),
        _pipeline(image=FULL_PIPELINE.image.replace("ocr", "htr")),
        _pipeline(command=("other",)),
        _pipeline(args=()),
        _pipeline(env={}),
        _pipeline(steps=[]),
        _pipeline(size=None),
        _pipeline(max_seconds=1),
        _campaign(volumes=(FIRST,)),
        _campaign(volumes=(*REST, FIRST)),
        _campaign(volumes=(replace(FIRST, id="A9"), *REST)),
        _campaign(volumes=(replace(FIRST, env={"PAGES": "1-8", "NOTE": "two\nlines"}), *REST)),
        _campaign(volumes=(Volume("A0001", SourceKind.SOURCE, source="s3://x"), *REST)),
    ],
)
def test_changes_with_what_reaches_the_pods(repo: Repo) -> None:
    assert _digest(repo) != _digest(BASE)


@pytest.mark.parametrize(
    "repo",
    [
        _campaign(suspend=True),
        _campaign(window=1),
        _campaign(window=None),
        _campaign(priority=""),
        _campaign(window=3, min_window=2),
        _pipeline(ttl_seconds_after_finished=1),
        _settings(window=1),
        _settings(queue="other"),
        _settings(priority_classes=()),
        _settings(ttl_seconds_after_finished=1),
        _settings(prune_limit=1),
        _settings(reactivate=False),
        _settings(quota={"cpu": "8"}),
        _settings(hf_token_secret=""),
        _settings(repository="other"),
        _settings(warmup_wait_seconds=1),
        _settings(sizes={**SIZED.sizes, "new": Size("new", "1", "4Gi")}),
        _settings(command=SIZED.command, env=dict(reversed(list(SIZED.env.items())))),
        _size(cpu="500m", memory="32Gi", workdir="4Gi"),
    ],
)
def test_is_the_same_for_what_does_not(repo: Repo) -> None:
    assert _digest(repo) == _digest(BASE)


def test_a_source_that_says_the_same_in_another_way_is_the_same() -> None:
    source = "https://archive.example.com/A0001/manifest"
    volume = Volume("A0001", SourceKind.MANIFEST, source=source, env=FIRST.env)
    assert _digest(_campaign(volumes=(volume, *REST))) == _digest(BASE)


def test_a_new_release_s_scripts_do_not_change_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = _digest(BASE)
    monkeypatch.setattr(campaign, "manifest_template", lambda name: f"# a new {name}\n")
    job = next(m for m in render(BASE) if m.role is Role.CAMPAIGN)
    assert "a new launcher.sh" in str(job.body)
    assert _digest(BASE) == before


def test_stays_what_earlier_releases_wrote() -> None:
    """Every live campaign would be held back by an upgrade that changes this."""
    assert _digest(BASE) == "66118049f8f53033a232de905ce0e8062fe63251175af15a2f57b44120dbca33"


def test_each_part_has_its_own() -> None:
    volumes = tuple(Volume(f"v{number}", SourceKind.REFERENCE) for number in range(20_000))
    jobs = [m for m in render(_campaign(volumes=volumes)) if m.role is Role.CAMPAIGN]
    assert len({m.body["metadata"]["annotations"][INPUTS_ANNOTATION] for m in jobs}) == 2
