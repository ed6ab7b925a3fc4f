"""A kubeconfig that is none: one line that names the file."""

from pathlib import Path

import pytest
import yaml
from unit.cli.commands import run, write_kubeconfig, write_repository

from converter.cluster.client import Client
from converter.errors import ClusterUnavailable

BAD_DATA = yaml.safe_dump(
    {
        "current-context": "c",
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
        "users": [{"name": "u", "user": {"client-certificate-data": "x", "client-key-data": "x"}}],
    }
)
WRONG = {
    "not YAML": b"a: [\n",
    "a binary": b"\xff\xfe\x00\x01",
    "a list": b"- a\n",
    "a number": b"5\n",
    "contexts of another type": b"current-context: c\ncontexts: 5\n",
    "a context without a name": b"current-context: c\ncontexts: [{}]\n",
    "users that are text": BAD_DATA.replace("users:", "users: none\nx:").encode(),
    "data that is not base64": BAD_DATA.encode(),
}


@pytest.mark.parametrize("content", WRONG.values(), ids=WRONG)
def test_a_file_that_is_no_kubeconfig(content: bytes, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_bytes(content)
    with pytest.raises(ClusterUnavailable, match=r"kubeconfig") as raised:
        Client.from_kubeconfig(kubeconfig=kubeconfig)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("command", ["apply", "status"])
def test_the_commands_say_it_in_one_line(command: str, tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_bytes(WRONG["not YAML"])
    done = run(command, write_repository(tmp_path / "repo"), KUBECONFIG=str(kubeconfig))
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"error: {kubeconfig} is not a kubeconfig: ")


def test_a_context_that_is_not_in_it(tmp_path: Path) -> None:
    kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", "https://127.0.0.1:1")
    with pytest.raises(ClusterUnavailable, match=r"no credentials for a cluster: .*other"):
        Client.from_kubeconfig(kubeconfig=kubeconfig, context="other")


def test_a_kubeconfig_that_is_not_there(tmp_path: Path) -> None:
    missing = tmp_path / "none"
    done = run("status", write_repository(tmp_path / "repo"), KUBECONFIG=str(missing))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"error: there is no kubeconfig {missing}: KUBECONFIG names it\n"


@pytest.mark.parametrize("token", ["eyJsecret\ufffd", "eyJsecret\nx"])
def test_a_token_that_cannot_be_sent_is_not_shown(token: str, tmp_path: Path) -> None:
    done = run("status", write_repository(tmp_path / "repo"), KUBECONFIG=_with(token, tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: the token for the API server has characters")
    assert "secret" not in done.stderr


def test_a_newline_after_a_token_is_none_of_it(tmp_path: Path) -> None:
    done = run("status", write_repository(tmp_path / "repo"), KUBECONFIG=_with("abc\n", tmp_path))
    assert "Connection refused" in done.stderr


def _with(token: str, directory: Path) -> str:
    kubeconfig = write_kubeconfig(directory / "kubeconfig", "http://127.0.0.1:1")
    document = yaml.safe_load(kubeconfig.read_text())
    document["users"][0]["user"] = {"token": token}
    kubeconfig.write_text(yaml.safe_dump(document))
    return str(kubeconfig)
