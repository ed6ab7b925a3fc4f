"""The name that a remote's URL gives: the same for each way to clone it, and never a secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.remote import remote_name


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://github.com/team/batch.git", "github.com/team/batch"),
        ("https://github.com/team/batch", "github.com/team/batch"),
        ("https://github.com/team/batch/", "github.com/team/batch"),
        ("https://github.com//team//batch.git/", "github.com/team/batch"),
        ("HTTPS://GitHub.com/Team/Batch.git", "github.com/Team/Batch"),
        ("https://github.com:443/team/batch", "github.com/team/batch"),
        ("git@github.com:team/batch.git", "github.com/team/batch"),
        ("github.com:/team/batch.git", "github.com/team/batch"),
        ("ssh://git@github.com/team/batch.git", "github.com/team/batch"),
        ("git+ssh://git@github.com/team/batch.git", "github.com/team/batch"),
        ("ssh://git@git.example.org:2222/team/batch.git", "git.example.org/team/batch"),
        ("git://git.example.org/team/batch.git", "git.example.org/team/batch"),
        ("https://gitlab.example.org/a/b/c.git", "gitlab.example.org/a/b/c"),
        ("https://org@dev.azure.com/org/My%20Work/_git/x", "dev.azure.com/org/My%20Work/_git/x"),
        ("host:/srv/batch/.git", "host/srv/batch"),
        ("https://[2001:DB8::1]/team/batch", "[2001:db8::1]/team/batch"),
        ("ssh://git@[2001:db8::1]:2222/team/batch", "[2001:db8::1]/team/batch"),
        ("git@[2001:db8::1]:team/batch", "[2001:db8::1]/team/batch"),
    ],
)
def test_the_name_is_the_same_however_the_repository_was_cloned(url: str, name: str) -> None:
    assert remote_name(url) == name


@pytest.mark.parametrize(
    "url",
    [
        "https://user:{}@host/team/batch",
        "https://{}@host/team/batch",
        "HTTPS://user:{}@host/team/batch",
        "https://user:se@{}@host/team/batch",
        "https://user:p%40{}%2F@host/team/batch",
        "ssh://user:{}@host:2222/team/batch",
        "{}@host:team/batch",
        "https://user:{}@[::1]/team/batch",
    ],
)
def test_who_clones_it_is_no_part_of_the_name(url: str) -> None:
    name = remote_name(url.format("s3cr3t"))
    assert name.endswith("/team/batch")
    assert "s3cr3t" not in name


@pytest.mark.parametrize(
    "url",
    [
        "https://host/team/batch?token=s3cr3t",
        "https://host/team/batch?repo=a",
        "https://host/team/batch#s3cr3t",
        "https://user:s3/cr3t@host/team/batch",
        "https://user:1/s3cr3t@host/team/batch",
        "https://user:1?s3cr3t@host/team/batch",
        "https://user%3As3cr3t%40host/team/batch",
        "https://host/user:s3cr3t%40host/batch",
        "https:/user:s3cr3t@host/team/batch",
        "https:user/s3cr3t",
        "user:s3cr3t@host/team/batch",
        "user:s3@cr3t@host:team/batch",
        "host:team/batch?token=s3cr3t",
        "https://host:s3cr3t/team/batch",
        "https://[host/team/batch",
        "https://host\\@s3cr3t/team/batch",
        "hg::https://user:s3cr3t@host/team/batch",
        "ext::sh -c s3cr3t",
        "s3://bucket/batch",
        "file:///srv/batch.git",
        "/srv/batch.git",
        "../batch",
        "batch",
        "C:/src/batch",
        "C:\\work\\batch",
        "https://host/",
        "https://host/.git",
        "host:",
        "",
    ],
)
def test_what_has_no_name_that_is_safe(url: str) -> None:
    assert remote_name(url) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://host:8443/team/batch", "https://host/team/batch"),
        ("https://host:8443/team/batch", "https://host:9443/team/batch"),
        ("http://host:443/team/batch", "https://host:443/team/batch"),
        ("https://host/team/batch", "https://host/Team/batch"),
        ("https://host/team%2Fbatch", "https://host/team/batch"),
        ("https://host/~ada/batch", "https://host/ada/batch"),
        ("https://[::1]/batch", "https://[::2]/batch"),
    ],
)
def test_two_remotes_have_two_names(one: str, other: str) -> None:
    assert remote_name(one) != remote_name(other)


@given(
    st.text(alphabet="https:/@[]?#%.\\ab1", max_size=12),
    st.text(alphabet=":/@[]?#%.\\ab1", max_size=12),
)
def test_no_url_is_a_crash_or_has_a_name_that_looks_like_one(before: str, after: str) -> None:
    name = remote_name(before + after)
    assert not set(name) & set("@?#\\")
    assert "//" not in name
