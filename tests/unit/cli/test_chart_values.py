"""`campaigns chart-values`: what it prints, where it says that something is, and its exit codes."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from unit.cli.commands import environment, run, write_repository

CHECKOUT = Path(__file__).parents[3]
DEMO = CHECKOUT / "campaigns" / "demo"
SETTINGS = """\
namespace: team
queue: gpu
quota: {cpu: 8, memory: 32Gi}
priority_classes: [urgent]
"""
SAME = """\
queue:
  name: gpu
  quota: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 0}
  priorityClasses:
    - {name: urgent, value: 10}
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository whose campaign has a mistake, which is nobody's concern here."""
    files = {"converter.yaml": SETTINGS, "campaigns/a.yaml": "pipeline: none\n", "same.yaml": SAME}
    return write_repository(tmp_path / "repo", files)


def test_the_demo_has_the_values_that_its_converter_yaml_determines() -> None:
    file = DEMO / "queue-values.yaml"
    done = run("chart-values", DEMO, "--check", file)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    assert done.stdout == f"{file} and converter.yaml say the same.\n"


def test_each_difference_has_its_place(repo: Path) -> None:
    other = repo / "other.yaml"
    other.write_text("# ours\nqueue:\n  quota:\n    cpu: 4\n  name: 'x'\n")
    done = run("chart-values", repo, "--check", repo / "same.yaml", "--check", other)
    assert (done.returncode, done.stderr) == (1, "")
    here = "here, or correct converter.yaml"
    assert done.stdout.splitlines() == [
        f"{other}:5:9: queue.name is x, and queue is gpu in converter.yaml — write gpu {here}",
        f"{other}:4:10: queue.quota.cpu is 4, and quota.cpu is 8 in converter.yaml — "
        f"write 8 {here}",
        f"Found 2 differences between {repo}/same.yaml and {other} and converter.yaml.",
    ]


def test_a_file_that_says_nothing_about_it_is_still_the_place(repo: Path) -> None:
    """And what a later file takes away is that file's: the chart has a default below both."""
    (repo / "less.yaml").write_text("queue:\n  quota:\n    nvidia.com/gpu: 3\n")
    (repo / "last.yaml").write_text("queue: {stopPolicy: Hold}\n")
    (repo / "converter.yaml").write_text(SETTINGS.replace("32Gi", "32Gi, nvidia.com/gpu: 2"))
    files = [each for name in ("same", "less", "last") for each in ("--check", f"{name}.yaml")]
    done = subprocess.run(
        [sys.executable, "-m", "converter", "chart-values", ".", *files],
        cwd=repo,
        env=environment(PYTHONPATH=str(CHECKOUT)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[0].startswith("less.yaml:3:21: queue.quota.nvidia.com/gpu is 3")
    (repo / "none.yaml").write_text("")
    done = run("chart-values", repo, "--check", repo / "none.yaml")
    assert f"{repo}/none.yaml:1:1: queue.name is empty" in done.stdout


def test_values_are_written_and_kept(repo: Path) -> None:
    done = run("chart-values", repo)
    assert done.returncode == 0
    assert "# The release belongs into namespace team." in done.stdout
    assert yaml.safe_load(done.stdout)["queue"]["priorityClasses"] == [
        {"name": "urgent", "create": False}
    ]
    assert done.stderr.startswith(
        "note: converter.yaml has no values of the priority classes urgent"
    )
    done = run("chart-values", repo, "--values", repo / "same.yaml")
    assert (done.returncode, done.stderr) == (0, "")
    assert yaml.safe_load(done.stdout)["queue"]["priorityClasses"] == [
        {"name": "urgent", "value": 10}
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("queue: [a\n", "bad.yaml:1:8: F002 not YAML: a list in [ ] that is not closed"),
        ("queue: {}\nqueue: {}\n", "bad.yaml:2:1: F003 the key queue is in lines 1 and 2"),
        ("- queue\n", "bad.yaml:1:1: F005 the values are no mapping"),
        ("a: 1\n---\nb: 2\n", "bad.yaml:2:1: F002 a second document begins here"),
        ("a: caf\xe9", "bad.yaml:0:0: F001 not UTF-8"),
    ],
)
def test_what_is_no_values_file(text: str, said: str, repo: Path) -> None:
    (repo / "bad.yaml").write_bytes(text.encode("latin-1"))
    for option in ("--check", "--values"):
        done = run("chart-values", repo, option, repo / "bad.yaml")
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{repo}/{said}" in done.stderr


def test_a_mistake_in_converter_yaml_is_that_of_validate(repo: Path) -> None:
    (repo / "converter.yaml").write_text(SETTINGS.replace("queue: gpu", "queue: GPU"))
    done = run("chart-values", repo, "--check", repo / "same.yaml")
    assert (done.returncode, done.stdout) == (1, "")
    assert "converter.yaml:2:8: F005" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--check", "none.yaml"), "none.yaml' does not exist"),
        (("--check", "same.yaml", "--values", "same.yaml"), "--check writes nothing"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], said: str, repo: Path) -> None:
    paths = [f"{repo}/{each}" if each.endswith(".yaml") else each for each in arguments]
    done = run("chart-values", repo, *paths)
    assert done.returncode == 2
    assert said in done.stderr


def test_a_check_imports_nothing_that_validate_does_not(repo: Path) -> None:
    program = (
        "import sys\nfrom converter.cli.main import main\n"
        "try:\n    main()\nfinally:\n"
        "    print(*(m for m in ('kubernetes', 'rich', 'jinja2') if m in sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "chart-values", repo, "--check", repo / "same.yaml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == [""]


def test_the_hook_compares_the_values(repo: Path) -> None:
    """As pre-commit runs it: the entry and its arguments, at the top of the repository."""
    hooks = yaml.safe_load((CHECKOUT / ".pre-commit-hooks.yaml").read_text())
    (hook,) = [each for each in hooks if each["id"] == "campaigns-chart-values"]
    (repo / "same.yaml").rename(repo / "queue-values.yaml")
    name, *entry = shlex.split(hook["entry"])
    assert name == "campaigns"
    command = [sys.executable, "-m", "converter", *entry, *hook["args"]]
    for text, code in ((SAME, 0), (SAME.replace("gpu", "cpu"), 1)):
        (repo / "queue-values.yaml").write_text(text)
        done = subprocess.run(
            command,
            cwd=repo,
            env=environment(PYTHONPATH=str(CHECKOUT)),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
