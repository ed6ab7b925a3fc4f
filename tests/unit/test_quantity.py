"""Quantities, against the kubernetes package and the API server's rules."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.utils.quantity import parse_quantity as kubernetes_parse_quantity

from converter.quantity import canonical_quantity, meant_quantities, parse_quantity

SUFFIXES = ("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
NUMBERS = st.decimals(0, 10**6, places=3, allow_nan=False).map(lambda number: f"{number:f}")
WRITTEN = st.builds(lambda number, suffix: number + suffix, NUMBERS, st.sampled_from(SUFFIXES))
EXPONENTS = st.builds(
    lambda number, letter, power: f"{number}{letter}{power}",
    st.integers(0, 999),
    st.sampled_from("eE"),
    st.integers(-9, 12),
)


@given(WRITTEN | EXPONENTS)
def test_is_what_the_kubernetes_package_reads(text: str) -> None:
    expected: Decimal = kubernetes_parse_quantity(text)
    assert parse_quantity(text) == Fraction(expected)


@given(WRITTEN | EXPONENTS)
def test_the_canonical_form_is_the_same_amount_and_stays(text: str) -> None:
    canonical = canonical_quantity(text)
    lost = parse_quantity(canonical) - parse_quantity(text)
    assert 0 <= lost < Fraction(1, 10**9)
    assert canonical_quantity(canonical) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0", "0"),
        ("0Gi", "0"),
        ("0.5", "500m"),
        (".5", "500m"),
        ("1.", "1"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1000", "1k"),
        ("1024", "1024"),
        ("1024Ki", "1Mi"),
        ("32768Mi", "32Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0.1Ki", "102400m"),
        ("1023.5Ki", "1048064"),
        ("8G", "8G"),
        ("8000M", "8G"),
        ("0.1n", "1n"),
        ("1e3", "1e3"),
        ("1E3", "1e3"),
        ("12e2", "1200"),
        ("1e-3", "1e-3"),
        ("1E", "1E"),
        ("007", "7"),
    ],
)
def test_canonical_form(text: str, canonical: str) -> None:
    assert canonical_quantity(text) == canonical


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("100u", "1m"),
        ("985e-9", "1e-3"),
        ("282244e-6", "283e-3"),
        ("1.0001Gi", "1073849198183m"),
        ("1.1Gi", "1181116006400m"),
        ("1500m", "1500m"),
        ("1.5Gi", "1536Mi"),
        ("8G", "8G"),
    ],
)
def test_an_api_server_rounds_requests_and_limits_up_to_a_thousandth(
    text: str, canonical: str
) -> None:
    assert canonical_quantity(text, decimals=3) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "",
        " 1",
        "1 ",
        "1\n",
        "-1",
        "+1",
        "1GB",
        "1gi",
        "1Gib",
        "m",
        ".",
        "1e",
        "1e1.5",
        "1e999",
        "x",
    ],
)
def test_what_is_no_quantity(text: str) -> None:
    for function in (parse_quantity, canonical_quantity):
        with pytest.raises(ValueError, match="is not a quantity"):
            function(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("256mb", ("256M", "256Mi")),
        ("256MB", ("256M", "256Mi")),
        ("256g", ("256G", "256Gi")),
        ("256K", ("256k", "256Ki")),
        ("256 Mi", ("256Mi",)),
        ("256mi", ("256Mi",)),
        ("1.5GiB", ("1.5Gi",)),
        ("512B", ("512",)),
        ("2 cores", ()),
        ("GB", ()),
        ("-1GB", ()),
        ("1GBB", ()),
        ("", ()),
    ],
)
def test_what_was_probably_meant(text: str, meant: tuple[str, ...]) -> None:
    assert meant_quantities(text) == meant
    for each in meant:
        assert parse_quantity(each) > 0
