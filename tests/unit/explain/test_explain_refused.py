"""Who it is that refuses an object, by the API server's words."""

import pytest

from converter.explain.cause import Cause
from converter.explain.refused import code_of


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ('failed calling webhook "mjob.kb.io": no endpoints', "webhook-down"),
        ('ValidatingAdmissionPolicy "p" with binding "b" denied request: no', "refused-by-policy"),
        ('admission webhook "w" denied the request: no', "refused-by-policy"),
        ("exceeded quota: pods, requested: pods=1", "namespace-quota"),
        ('violates PodSecurity "restricted:latest"', "pod-security"),
        ("maximum cpu usage per Container is 1 (LimitRange)", "limit-range"),
        ("spec: field is immutable", ""),
    ],
)
def test_the_words_of_a_refusal(message: str, code: str) -> None:
    assert code_of(message) == code


def test_an_example_stands_in_the_sentence_and_apart() -> None:
    found = Cause("failed", "2 of 2 volumes failed", "retry", example="v1: no, first of all")
    assert found.sentence == "2 of 2 volumes failed, first v1: no, first of all"
    assert found.line == f"{found.sentence}: retry"
    assert found.what == "2 of 2 volumes failed"
