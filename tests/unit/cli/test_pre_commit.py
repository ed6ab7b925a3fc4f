"""The hook as pre-commit installs and runs it, at real commits."""

from __future__ import annotations

import subprocess

import pytest
from unit.cli.commands import CAMPAIGN
from unit.cli.hook_site import HookSite, git, publish


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> HookSite:
    """A repository whose commits the hook judges; its environment is made with pip, once."""
    source = tmp_path_factory.mktemp("gitops-campaigns")
    made = HookSite(tmp_path_factory.mktemp("site"), tmp_path_factory.mktemp("pre-commit"))
    made.create(source, publish(source))
    made.install()
    return made


@pytest.fixture(autouse=True)
def as_committed(site: HookSite) -> None:
    """Each test begins with what was there at the start, and no change."""
    start = git(site.root, "rev-list", "--max-parents=0", "HEAD").strip()
    git(site.root, "reset", "--quiet", "--hard", start)
    git(site.root, "clean", "--quiet", "--force", "-d")


def assert_refused(site: HookSite, done: subprocess.CompletedProcess[str], line: str) -> None:
    assert done.returncode == 1, done.stdout
    assert "campaigns validate" in done.stdout
    assert line in done.stdout.splitlines()
    assert git(site.root, "log", "--format=%s") == "begin\n"


def test_a_good_campaign_is_committed(site: HookSite) -> None:
    (site.root / "campaigns/maps.yaml").write_text("pipeline: ocr\nvolumes: [M1]\n")
    done = site.commit()
    assert done.returncode == 0, done.stdout
    assert git(site.root, "log", "--format=%s") == "change\nbegin\n"


def test_a_broken_campaign_is_refused(site: HookSite) -> None:
    (site.root / "campaigns/letters.yaml").write_text(CAMPAIGN.replace("ocr", "orc"))
    said = 'campaigns/letters.yaml:1:11: C005 there is no pipeline "orc" — write one of: ocr'
    assert_refused(site, site.commit(), said)


def test_a_pipeline_that_is_gone_is_noticed(site: HookSite) -> None:
    """Deleted files are no files that pre-commit would tell a hook of."""
    (site.root / "pipelines/ocr.yaml").unlink()
    where = "campaigns/letters.yaml:1:11: C005"
    said = 'there is no pipeline "ocr" — write a file in pipelines/'
    assert_refused(site, site.commit(), f"{where} {said}")


def test_a_pipeline_that_is_renamed_is_noticed(site: HookSite) -> None:
    (site.root / "pipelines/ocr.yaml").rename(site.root / "pipelines/ocr-2.yaml")
    done = site.commit()
    assert done.returncode == 1
    assert 'campaigns/letters.yaml:1:11: C005 there is no pipeline "ocr"' in done.stdout


def test_what_is_not_staged_does_not_count(site: HookSite) -> None:
    """pre-commit puts away what is changed and not staged."""
    (site.root / "campaigns/letters.yaml").write_text(CAMPAIGN.replace("ocr", "orc"))
    (site.root / "README.md").write_text("ours\n")
    git(site.root, "add", "README.md")
    done = site.pre_commit("run")
    assert done.returncode == 0, done.stdout
    assert "orc" in (site.root / "campaigns/letters.yaml").read_text()


def test_the_hook_runs_on_a_commit_that_has_no_file_of_ours(site: HookSite) -> None:
    (site.root / "README.md").write_text("ours\n")
    done = site.commit()
    assert done.returncode == 0, done.stdout
    assert "Passed" in done.stdout
