"""Plain scalars: what all readers of YAML agree on, and what is nobody's guess."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from converter.load.scalars import Misread, is_text_key, plain_scalar, reading


@pytest.mark.parametrize(
    ("text", "words", "usual"),
    [
        ("0012", "the number 10 (octal)", "12 or 10"),
        ("0o17", "the number 15 (octal)", "15"),
        ("089", "the number 89", "89"),
        ("0x1F", "the number 31 (hexadecimal)", "31"),
        ("0xb1", "the number 177 (hexadecimal)", "177"),
        ("-0b11", "the number -3 (binary)", "-3"),
        ("1_000", "the number 1000", "1000"),
        ("1:20", "the number 80", "80"),
        ("190:20:30.5", "the number 685230.5", "685230.5"),
        ("1e5", "the number 100000.0", "1.0e+5"),
        ("1.0e5", "the number 100000.0", "1.0e+5"),
        ("1e-4", "the number 0.0001", "1.0e-4"),
        ("-.5", "the number -0.5", "-0.5"),
        (".inf", "no finite number", ""),
        ("1e400", "no finite number", ""),
        (".NaN", "no finite number", ""),
        ("9" * 40, "a number", ""),
        (str(2**63), "the number 9223372036854775808", ""),
        ("2024-01-31", "a date", ""),
        ("2024-01-31 10:00:00", "a date", ""),
        ("yes", "true", "true"),
        ("OFF", "false", "false"),
        ("y", "true", "true"),
        ("=", "the default value of a mapping", ""),
    ],
)
def test_what_readers_disagree_on_is_misread(text: str, words: str, usual: str) -> None:
    found = plain_scalar(text)
    assert isinstance(found, Misread)
    assert (found.text, found.reading, found.usual) == (text, words, usual)
    for form in filter(None, usual.split(" or ")):
        assert isinstance(plain_scalar(form), bool | int | float)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-7", -7),
        (str(2**63 - 1), 2**63 - 1),
        ("+7", 7),
        ("1.10", 1.1),
        (".5", 0.5),
        ("1.0e-5", 0.00001),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("Null", None),
        ("", None),
        ("A0012", "A0012"),
        ("12a", "12a"),
        ("1.2.3", "1.2.3"),
        ("12:99", "12:99"),
        ("2024-13", "2024-13"),
        ("0x", "0x"),
        ("yEs", "yEs"),
        ("+", "+"),
        ("...", "..."),
    ],
)
def test_what_readers_agree_on_has_its_value(text: str, value: object) -> None:
    found = plain_scalar(text)
    assert (type(found), found) == (type(value), value)


@given(st.text("0123456789abcdefxo_+-.:eEyYnNtTrueflsofNO~=", max_size=8))
def test_text_is_what_every_reader_takes_for_text(text: str) -> None:
    if isinstance(plain_scalar(text), str):
        document = f"- {text}\n"
        try:
            read = yaml.safe_load(document)
        except yaml.YAMLError:
            # An indicator at the beginning: a parser does not make a plain scalar of it.
            return
        if isinstance(read, list) and isinstance(read[0], dict | list):
            return
        assert read == [text]
        try:
            assert YAML(typ="safe", pure=True).load(document) == [text]
        except ValueError:
            # It takes a sign or a dot with nothing but underscores for a number, and fails.
            assert set(text) <= set("+-._")


def test_a_value_is_put_into_words() -> None:
    assert [reading(plain_scalar(text)) for text in ("1.10", "true", "~", "a", "yes")] == [
        "the number 1.1",
        "true",
        "nothing (null)",
        "the text a",
        "true",
    ]


def test_coordinates_may_be_keys() -> None:
    assert [name for name in ("x", "y", "n", "on", "1", "no", "") if is_text_key(name)] == [
        "x",
        "y",
        "n",
    ]
