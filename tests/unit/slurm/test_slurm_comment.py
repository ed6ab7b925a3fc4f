"""The comment of a job."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.slurm.comment import LONGEST, Comment, Placing, comment_of, is_foreign, written
from converter.slurm.errors import CommentTooLong
from converter.slurm.times import LEAST, MOST

OURS = Comment(
    campaign="letters",
    part=2,
    commit="647c277e02d5b0e0a6a0e8fd8a3b1a4ed59e1b0a",
    digest="9f86d081884c7d65",
    repository="example/archive",
    placing=Placing(7, 1_796_134_596, 0, "2026-12-01T14:19:37Z", "ops@host", "a lost node"),
)

texts = st.text(max_size=40)
placings = st.builds(
    Placing,
    instance=st.integers(LEAST, MOST),
    submit=st.integers(1, 2**40),
    restarts=st.integers(0, 10_000),
    at=texts,
    by=texts,
    reason=texts,
)
comments = st.builds(
    Comment,
    campaign=st.from_regex(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", fullmatch=True),
    part=st.integers(0, 10_000),
    commit=st.from_regex(r"[0-9a-f]{40}", fullmatch=True),
    digest=st.from_regex(r"[0-9a-f]{16}", fullmatch=True),
    repository=st.text(max_size=10),
    placing=st.none() | placings,
)


def test_it_reads_like_this() -> None:
    assert written(OURS) == (
        "gitops-campaigns/1,campaign=letters,part=2,commit=647c277e02d5b0e0a6a0e8fd8a3b1a4ed59e1b0a,"
        "digest=9f86d081884c7d65,repository=example%2Farchive,hold=7,submit=1796134596,restarts=0,"
        "at=2026-12-01T14:19:37Z,by=ops%40host,reason=a%20lost%20node,sum=03d30edc"
    )


@given(comments)
def test_a_comment_is_one_plain_word(comment: Comment) -> None:
    text = written(comment)
    assert len(text) <= LONGEST
    assert re.fullmatch(r"[A-Za-z0-9_.~:%,=/-]+", text)


@given(comments)
def test_a_comment_comes_back(comment: Comment) -> None:
    found = comment_of(written(comment))
    assert found is not None
    assert replace(found, placing=None) == replace(comment, placing=None)
    placing, sent = found.placing, comment.placing
    assert (placing is None) is (sent is None)
    if placing is not None and sent is not None:
        assert replace(placing, by="", reason="") == replace(sent, by="", reason="")
        for got, was in ((placing.by, sent.by), (placing.reason, sent.reason)):
            assert got == was or (got.endswith("…") and was.startswith(got[:-1])) or got == ""


@pytest.mark.parametrize("by", ["ops", "ö" * 200, "n" * 200])
@pytest.mark.parametrize("reason", ["", "x" * 500, "ü" * 500, "😀" * 500, " " * 500])
def test_a_long_reason_is_cut_with_a_mark_and_the_hold_stays_whole(by: str, reason: str) -> None:
    placing = Placing(MOST, 1_796_134_596, 3, "2026-12-01T14:19:37Z", by, reason)
    text = written(replace(OURS, placing=placing))
    found = comment_of(text)
    assert found is not None
    assert found.placing is not None
    assert len(text) <= LONGEST
    assert (found.placing.instance, found.placing.submit, found.placing.restarts) == (
        MOST,
        1_796_134_596,
        3,
    )
    assert found.placing.reason == reason or len(text) > LONGEST - 24


def test_a_name_that_does_not_fit_is_refused() -> None:
    with pytest.raises(CommentTooLong, match="give the repository a shorter name"):
        written(replace(OURS, repository="ö" * 200))


FOREIGN = [
    "",
    " ",
    "run of Anna",
    "campaign=letters",
    "gitops-campaigns/1",
    "gitops-campaigns/1,sum=",
    ",sum=e3b0c442",
    "\x00\ud800,sum=12345678",
    '{"campaign": "letters"}',
    "%" * 1000,
]


@pytest.mark.parametrize("text", FOREIGN)
def test_a_foreign_comment_is_none(text: str) -> None:
    assert comment_of(text) is None


@given(st.text())
def test_no_text_is_an_error(text: str) -> None:
    assert comment_of(text) is None


@given(comments, st.data())
def test_a_damaged_comment_is_none(comment: Comment, data: st.DataObject) -> None:
    text = written(comment)
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.sampled_from("aZ09,=%-") | st.just(""))
    damaged = text[:at] + other + text[at + 1 :]
    assert damaged == text or comment_of(damaged) is None
    assert comment_of(text[:at]) is None
    assert comment_of(f'"{text}"') is None


def _summed(body: str) -> str:
    from hashlib import sha256

    return f"{body},sum={sha256(body.encode()).hexdigest()[:8]}"


@pytest.mark.parametrize(
    "pairs",
    [
        "campaign=a,campaign=b",
        "part=x",
        "part=01",
        "hold=0,submit=1,restarts=0",
        "hold=4294967296,submit=1,restarts=0",
        "hold=7,submit=1",
        "hold=7,restarts=0",
        "hold=7,submit=,restarts=0",
        "hold=+7,submit=1,restarts=0",
        "hold=7,submit=1,restarts=-1",
        "campaign=a b",
        "campaign",
        "Campaign=a",
    ],
)
def test_what_we_never_write_is_none(pairs: str) -> None:
    assert comment_of(_summed("gitops-campaigns/1,campaign=ok")) == Comment(campaign="ok")
    assert comment_of(_summed(f"gitops-campaigns/1,{pairs}")) is None


def test_what_a_later_release_adds_is_let_be() -> None:
    assert comment_of(_summed("gitops-campaigns/1,campaign=ok,colour=red")) == Comment("ok")


def test_a_job_of_no_campaign_has_a_hold_alone() -> None:
    held = Comment(placing=Placing(7, 1_796_134_596, 0))
    assert comment_of(written(held)) == held


def test_whose_comment_it_is() -> None:
    assert not is_foreign("")
    assert not is_foreign(" ")
    assert not is_foreign(written(OURS))
    assert is_foreign("run of Anna")
    assert is_foreign(written(OURS)[:-1])
