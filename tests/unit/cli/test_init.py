"""`campaigns init`: what it writes, what it leaves alone, and that its CI does what it says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from unit.cli.ci_jobs import (
    Runner,
    Step,
    azure_steps,
    cloned,
    git,
    github_steps,
    gitlab_steps,
    propose,
    read,
)
from unit.cli.code_quality import entries, places
from unit.cli.commands import run, write_kubeconfig, write_repository
from unit.cluster.api_server import ApiServer, serve
from unit.reconcile.namespace_store import Namespace

from converter import __version__
from converter.cli.init import command
from converter.errors import CampaignsError
from converter.load.schema import FileKind, document

CHECKOUT = Path(__file__).parents[3]
CI = {
    "github": ".github/workflows/campaigns.yaml",
    "gitlab": ".gitlab-ci.yml",
    "azure": "azure-pipelines.yml",
}
FILES = {
    "converter.yaml",
    "campaigns/example.yaml",
    "pipelines/example.yaml",
    ".pre-commit-config.yaml",
    ".gitignore",
    "README.md",
    ".schemas/campaign.schema.json",
    ".schemas/converter.schema.json",
    ".schemas/pipeline.schema.json",
}
PACKAGE = f"gitops-campaigns=={__version__}"
TOKEN = "c6f1-not-for-any-log"  # noqa: S105
BROKEN = "pipeline: exmaple\nvolumes: [a]\n"


def files_of(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and ".git/" not in f"{path.relative_to(directory)}"
    }


def init(directory: Path, *options: str) -> Path:
    done = CliRunner().invoke(command, [str(directory), *options], standalone_mode=False)
    assert (done.return_value, done.stderr) == (0, "")
    return directory


@pytest.mark.parametrize("ci", CI)
def test_the_result_is_valid_and_complete(tmp_path: Path, ci: str) -> None:
    repo = tmp_path / "new/letters"
    done = run("init", repo, "--ci", ci)
    files = files_of(repo)
    assert set(files) == {*FILES, CI[ci]}
    wrote = re.findall(r"^wrote: (.+)$", done.stdout, re.MULTILINE)
    assert sorted(wrote) == [str(repo / path) for path in sorted(files)]
    assert re.findall(r"^  ([0-9])\. ", done.stdout, re.MULTILINE) == ["1", "2", "3"]
    assert run("validate", repo).stdout == "All 3 files are valid.\n"
    assert not [path for path, text in files.items() if re.search(rb"@[A-Z_]+@", text)]


def test_a_first_apply_starts_nothing(tmp_path: Path) -> None:
    repo = init(tmp_path / "repo")
    rendered = list(yaml.safe_load_all(run("render", repo).stdout))
    assert [each["spec"]["suspend"] for each in rendered if each["kind"] == "Job"] == [True]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("converter.yaml", FileKind.CONVERTER),
        ("campaigns/example.yaml", FileKind.CAMPAIGN),
        ("pipelines/example.yaml", FileKind.PIPELINE),
    ],
)
def test_editors_find_the_schema_of_each_file(tmp_path: Path, path: str, kind: FileKind) -> None:
    file = init(tmp_path / "repo") / path
    first = file.read_text().splitlines()[0]
    assert first.startswith("# yaml-language-server: $schema=")
    schema = file.parent / first.partition("=")[2]
    assert json.loads(schema.read_text()) == document(kind)


@pytest.mark.parametrize("ci", CI)
def test_links_in_the_readme_lead_somewhere(tmp_path: Path, ci: str) -> None:
    repo = init(tmp_path / "repo", "--ci", ci)
    links = re.findall(r"\]\(([^)]+)\)", (repo / "README.md").read_text())
    assert links == [CI[ci]]
    assert (repo / links[0]).is_file()


def test_the_hook_is_that_of_this_release(tmp_path: Path) -> None:
    [repo] = read(init(tmp_path / "repo") / ".pre-commit-config.yaml")["repos"]
    [hook] = repo["hooks"]
    hooks = read(CHECKOUT / ".pre-commit-hooks.yaml")
    [ours] = [each for each in hooks if each["id"] == hook["id"]]
    assert hook.pop("additional_dependencies") == [PACKAGE]
    assert hook == {name: value for name, value in ours.items() if name != "description"}


OPTIONS = {
    "--namespace": "letters-2",
    "--queue": "gpu.large",
    "--branch": "release/1.x",
    "--package": "git+https://git.example.org/x y@0123#egg='a'",
}


@pytest.mark.parametrize("ci", CI)
def test_options_reach_the_files_as_they_are(tmp_path: Path, ci: str) -> None:
    options = [word for option in OPTIONS.items() for word in option]
    repo = init(tmp_path / "repo", "--ci", ci, *options)
    settings = read(repo / "converter.yaml")
    assert (settings["namespace"], settings["queue"]) == ("letters-2", "gpu.large")
    [hook] = read(repo / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    assert hook["additional_dependencies"] == [OPTIONS["--package"]]
    jobs = read(repo / CI[ci])
    variables = jobs["env" if ci == "github" else "variables"]
    assert variables["CAMPAIGNS_PACKAGE"] == OPTIONS["--package"]
    text = (repo / CI[ci]).read_text()
    apply = next(line for line in text.splitlines() if "campaigns apply ." in line)
    assert apply.endswith(" --prune --namespace letters-2")
    if ci != "gitlab":
        assert "release/1.x" in text
    [line] = [each for each in (repo / "README.md").read_text().splitlines() if "pipx" in each]
    assert shlex.split(line) == ["pipx", "install", OPTIONS["--package"]]


@pytest.mark.parametrize("name", ["123", "no", "on", "null", "1e5", "y", "0x1f", "12e03"])
def test_names_that_yaml_takes_for_something_else_are_quoted(tmp_path: Path, name: str) -> None:
    repo = init(tmp_path / "repo", "--namespace", name, "--queue", name, "--branch", name)
    assert run("validate", repo).returncode == 0
    settings = read(repo / "converter.yaml")
    assert (settings["namespace"], settings["queue"]) == (name, name)
    assert read(repo / CI["github"])[True]["push"]["branches"] == [name]


@pytest.mark.parametrize(
    "options",
    [
        ("--namespace", "Letters"),
        ("--namespace", "a.b"),
        ("--namespace", "a" * 64),
        ("--queue", "a_b"),
        ("--queue", "a" * 64),
        ("--branch", "it's"),
        ("--branch", "a..b"),
        ("--branch", "-f"),
        ("--branch", "main\n"),
        ("--package", ""),
        ("--package", "a\nb"),
        ("--package", "--index-url=https://example.org"),
        ("--ci", "jenkins"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_meant_is_wrong_usage(tmp_path: Path, options: tuple[str, str]) -> None:
    done = run("init", tmp_path / "repo", *options)
    assert done.returncode == 2
    assert f"Invalid value for '{options[0]}'" in done.stderr
    assert not (tmp_path / "repo").exists()


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    repo = init(tmp_path / "repo")
    before = files_of(repo)
    times = {path: (repo / path).stat().st_mtime_ns for path in before}
    done = run("init", repo)
    assert done.returncode == 0
    assert "wrote" not in done.stdout
    assert done.stdout.count("unchanged: ") == len(before)
    assert files_of(repo) == before
    assert {path: (repo / path).stat().st_mtime_ns for path in before} == times


def test_a_fresh_clone_keeps_what_it_has(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    git(repo, "init", "--quiet")
    write_repository(repo, {"LICENSE": "mine", "campaigns/notes.txt": "mine"})
    init(repo)
    assert (repo / "LICENSE").read_text() == "mine"
    assert (repo / "campaigns/notes.txt").read_text() == "mine"
    assert run("validate", repo).returncode == 0


def file_in_the_way(repo: Path) -> str:
    write_repository(repo, {"README.md": "mine\n"})
    return "README.md is there already and differs"


def link_in_the_way(repo: Path) -> str:
    (repo.parent / "elsewhere").write_text("mine\n")
    (repo / ".gitignore").symlink_to(repo.parent / "elsewhere")
    return ".gitignore is there already and differs"


def dangling_link_in_the_way(repo: Path) -> str:
    (repo / "converter.yaml").symlink_to(repo.parent / "nowhere")
    return "converter.yaml is there already and differs"


def directory_in_the_way(repo: Path) -> str:
    (repo / "converter.yaml").mkdir()
    return "converter.yaml is there already and differs"


def file_for_a_directory(repo: Path) -> str:
    (repo / "pipelines").write_text("mine\n")
    return "pipelines is no directory"


def link_out_of_the_repository(repo: Path) -> str:
    (repo.parent / "elsewhere").mkdir()
    (repo / "campaigns").symlink_to(repo.parent / "elsewhere")
    return "campaigns is no directory"


@pytest.mark.parametrize(
    "prepare",
    [
        file_in_the_way,
        link_in_the_way,
        dangling_link_in_the_way,
        directory_in_the_way,
        file_for_a_directory,
        link_out_of_the_repository,
    ],
)
def test_nothing_is_written_where_something_is_in_the_way(
    tmp_path: Path, prepare: Callable[[Path], str]
) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    reason = prepare(repo)
    before = sorted(path for path in tmp_path.rglob("*"))
    done = run("init", repo)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: {repo}/{reason}")
    assert "nothing was written: " in line
    assert sorted(path for path in tmp_path.rglob("*")) == before


def test_what_was_written_before_a_failure_is_taken_away_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last file is one that somebody made after the look at what is there."""
    (tmp_path / "kept.txt").write_text("kept")
    links: list[Path] = []
    link = os.link

    def late(source: Path, target: Path) -> None:
        links.append(target)
        if len(links) == 4:
            target.write_text("another's")
        link(source, target)

    monkeypatch.setattr(os, "link", late)
    result = CliRunner().invoke(command, [str(tmp_path)], standalone_mode=False)
    assert isinstance(result.exception, CampaignsError)
    assert str(result.exception) == f"cannot write {links[-1]}: File exists; nothing was written"
    left = {each for each in tmp_path.rglob("*") if each.is_file()}
    assert left == {tmp_path / "kept.txt", links[-1]}
    assert links[-1].read_text() == "another's"


def test_a_file_is_no_directory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert run("init", tmp_path / "file").returncode == 2
    done = run("init", tmp_path / "file/below")
    assert done.returncode == 1
    assert (
        done.stderr
        == f"error: cannot write {tmp_path}/file/below: Not a directory; nothing was written\n"
    )


def test_below_the_top_of_a_clone_ci_would_not_be_read(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    done = run("init", tmp_path / "letters")
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith(f"warning: {tmp_path}/letters is not the top of its git repository")
    assert CI["github"] in line


def test_the_wheel_has_every_template(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", tmp_path],
        cwd=CHECKOUT,
        capture_output=True,
        check=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    templates = CHECKOUT / "converter/templates"
    there = {path.relative_to(CHECKOUT).as_posix() for path in templates.rglob("*.*")}
    assert there | {"converter/templates/init/gitignore"} <= set(zipfile.ZipFile(wheel).namelist())


# -- CI ------------------------------------------------------------------------------------------

SCHEMAS = {
    "github": ("vendor.github-workflows",),
    "gitlab": ("vendor.gitlab-ci", "--data-transform", "gitlab-ci"),
    "azure": (
        "vendor.azure-pipelines",
        "--data-transform",
        "azure-pipelines",
        "--regex-variant",
        "nonunicode",
    ),
}


@pytest.mark.parametrize("ci", CI)
def test_the_ci_file_is_what_its_system_reads(tmp_path: Path, ci: str) -> None:
    file = init(tmp_path / "repo", "--ci", ci) / CI[ci]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", *SCHEMAS[ci], file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_on_github_every_job_has_a_time_limit_and_every_action_is_pinned(tmp_path: Path) -> None:
    file = init(tmp_path / "repo") / CI["github"]
    done = subprocess.run(
        [
            *(sys.executable, "-m", "check_jsonschema", "--builtin-schema"),
            *("custom.github-workflows-require-timeout", file),
        ],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    workflow = read(file)
    used = [
        step["uses"] for job in workflow["jobs"].values() for step in job["steps"] if "uses" in step
    ]
    assert len(used) == 4
    assert all(re.fullmatch(r"[a-z]+/[a-z-]+@[0-9a-f]{40}", each) for each in used)
    assert workflow["permissions"] == {"contents": "read"}
    assert not any("permissions" in job for job in workflow["jobs"].values())
    # `pull_request_target` would give the secrets to anybody's change.
    assert set(workflow[True]) == {"pull_request", "push", "workflow_dispatch"}


def test_one_apply_at_a_time_and_none_for_a_proposal(tmp_path: Path) -> None:
    repos = {ci: init(tmp_path / ci, "--ci", ci) for ci in CI}
    github = read(repos["github"] / CI["github"])["jobs"]["apply"]
    assert github["concurrency"] == {"group": "campaigns-apply", "cancel-in-progress": False}
    assert github["if"] == "github.event_name != 'pull_request' && github.ref == 'refs/heads/main'"
    assert github["needs"] == "validate"
    gitlab = read(repos["gitlab"] / CI["gitlab"])["apply"]
    assert gitlab["resource_group"] == "campaigns-apply"
    assert gitlab["interruptible"] is False
    assert gitlab["rules"] == [{"if": "$CI_COMMIT_BRANCH == $CI_DEFAULT_BRANCH"}]
    validate, apply = read(repos["azure"] / CI["azure"])["stages"]
    assert apply["lockBehavior"] == "sequential"
    assert apply["dependsOn"] == validate["stage"]
    assert "ne(variables['Build.Reason'], 'PullRequest')" in apply["condition"]
    assert "eq(variables['Build.SourceBranch'], 'refs/heads/main')" in apply["condition"]


STEPS: dict[str, Callable[[Any, str], list[Step]]] = {
    "github": github_steps,
    "gitlab": gitlab_steps,
    "azure": azure_steps,
}


class Site:
    """A repository that `init` wrote, cloned as CI clones it, and a cluster for it."""

    def __init__(self, ci: str, directory: Path, namespace: Namespace, api: ApiServer) -> None:
        options = ("--ci", ci, "--namespace", "team", "--queue", "batch")
        repo = init(directory / "repo", *options)
        self.ci = ci
        self.namespace = namespace
        self.document = read(repo / CI[ci])
        self.runner = Runner(
            directory / "job", cloned(repo, directory / "origin.git", directory / "clone")
        )
        kubeconfig = write_kubeconfig(directory / "given", api.url)
        self.kubeconfig = kubeconfig.read_text().replace("secret", TOKEN)
        kubeconfig.write_text(self.kubeconfig)
        kubeconfig.chmod(0o644)
        self.given = kubeconfig

    @property
    def clone(self) -> Path:
        return self.runner.clone

    def validate(self, base: str = "") -> int:
        """As for a pull request that began at `base`, or else for a push."""
        self.runner.values = {"github.base_ref": "main" if base else ""}
        variables = {
            "github": {"GITHUB_ACTIONS": "true"},
            "gitlab": {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base} if base else {},
            "azure": {"SYSTEM_PULLREQUEST_TARGETBRANCH": "refs/heads/main"} if base else {},
        }
        steps = STEPS[self.ci](self.document, "validate")
        return self.runner.run(steps, **variables[self.ci])

    def apply(self, *, given: bool = True) -> int:
        self.runner.values = {
            "secrets.CAMPAIGNS_KUBECONFIG": self.kubeconfig if given else "",
            "runner.temp": str(self.runner.home / "temp"),
            "kubeconfig.secureFilePath": str(self.given) if given else "",
        }
        variables = {"gitlab": {"CAMPAIGNS_KUBECONFIG": str(self.given) if given else ""}}
        steps = STEPS[self.ci](self.document, "apply")
        return self.runner.run(steps, **variables.get(self.ci, {}))

    def write(self, text: str) -> None:
        write_repository(self.clone, {"campaigns/letters.yaml": text})


@pytest.fixture(params=CI)
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    namespace = Namespace()
    with serve(namespace) as api:
        yield Site(request.param, tmp_path, namespace, api)


def test_ci_accepts_a_valid_proposal(site: Site) -> None:
    base = propose(site.clone, {"campaigns/letters.yaml": "pipeline: example\nvolumes: [a]\n"})
    assert site.validate(base) == 0, site.runner.output
    assert "All 4 files are valid." in site.runner.output or site.ci == "github"
    assert site.runner.installed == ["-m", "pip", "install", "--disable-pip-version-check", PACKAGE]


def test_ci_refuses_a_broken_proposal(site: Site) -> None:
    base = propose(site.clone, {"campaigns/letters.yaml": BROKEN})
    assert site.validate(base) == 1
    assert "campaigns/letters.yaml" in site.runner.output
    assert "C005" in site.runner.output


def test_ci_compares_a_proposal_with_what_it_began_at(site: Site) -> None:
    changed = (site.clone / "campaigns/example.yaml").read_text().replace("- first", "- other")
    base = propose(site.clone, {"campaigns/example.yaml": changed})
    assert site.validate(base) == 1
    assert "G001" in site.runner.output


@pytest.mark.parametrize(("text", "code"), [("pipeline: example\nvolumes: [a]\n", 0), (BROKEN, 1)])
def test_ci_validates_what_is_merged(site: Site, text: str, code: int) -> None:
    site.write(text)
    assert site.validate() == code


@pytest.mark.parametrize("site", ["gitlab"], indirect=True)
@pytest.mark.parametrize("job", ["validate", "apply"])
@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("pipeline: example\nvolumes: [a]\n", []),
        (BROKEN, [("C005", "campaigns/letters.yaml", 1)]),
    ],
)
def test_gitlab_finds_a_report_of_each_job(
    site: Site, job: str, text: str, found: list[tuple[str, str, int]]
) -> None:
    site.write(text)
    assert (site.validate if job == "validate" else site.apply)() == (1 if found else 0)
    artifacts = site.document[job]["artifacts"]
    # Also of a job that fails: that is the one with something in its report.
    assert artifacts["when"] == "always"
    report = site.clone / artifacts["reports"]["codequality"]
    assert places(entries(report.read_text())) == found
    # People read the log.
    assert (": C005 " in site.runner.output) is bool(found)


@pytest.mark.parametrize("site", ["gitlab"], indirect=True)
def test_gitlabs_report_of_a_proposal_is_of_what_it_changes(site: Site) -> None:
    changed = (site.clone / "campaigns/example.yaml").read_text().replace("- first", "- other")
    assert site.validate(propose(site.clone, {"campaigns/example.yaml": changed})) == 1
    report = site.clone / site.document["validate"]["artifacts"]["reports"]["codequality"]
    [(check, path, _)] = places(entries(report.read_text()))
    assert (check, path) == ("G001", "campaigns/example.yaml")


def test_ci_applies_what_is_merged_and_keeps_the_secret(site: Site) -> None:
    assert site.apply() == 0, site.runner.output
    assert ("PATCH", "jobs/example") in site.namespace.written
    assert site.namespace.job("example")["spec"]["suspend"] is True
    assert site.namespace.started_unadmitted == []
    assert site.runner.modes == ["600"]
    assert TOKEN not in site.runner.output
    assert os.listdir(site.runner.home / "temp") == []


def test_ci_applies_nothing_of_a_broken_repository(site: Site) -> None:
    site.write(BROKEN)
    assert site.apply() == 1
    assert site.namespace.written == []
    assert TOKEN not in site.runner.output
    assert os.listdir(site.runner.home / "temp") == []


@pytest.mark.parametrize("site", ["github", "gitlab"], indirect=True)
def test_ci_without_its_secret_says_so(site: Site) -> None:
    """Azure's task that fetches the file does so itself."""
    assert site.apply(given=False) == 1
    assert "CAMPAIGNS_KUBECONFIG" in site.runner.output
    assert site.namespace.written == []


def test_ci_does_not_apply_to_another_namespace(site: Site) -> None:
    settings = site.clone / "converter.yaml"
    settings.write_text(settings.read_text().replace("namespace: team", "namespace: other"))
    assert site.apply() == 1
    assert site.namespace.written == []
