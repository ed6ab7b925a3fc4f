"""Mutations of a document: what a slip of the hand, a bad merge or an editor makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Final

_TOKEN: Final = re.compile(rb"\s+|[\w.]+|.", re.DOTALL)

# What means something in YAML, to our schemas, or to a terminal.
_INSERTED: Final = (
    *(b"- ", b": ", b":", b"? ", b"[", b"]", b"{", b"}", b",", b"#", b" #", b"&a ", b"*a ", b"!"),
    *(b"!!int ", b"!!binary ", b"<<: ", b"|", b">", b"|2-\n", b"---\n", b"...\n", b"%YAML 9.9\n"),
    *(b"'", b'"', b"\\", b"\\u2028", b"\\x1b[31m", b"`", b"@", b"~", b"null", b"yes", b"0012"),
    *(b"1:20", b"1e400", b"-1", b"1.0", b"9" * 25, b".inf", b"2024-01-01", b"0x7f", b"\t", b"\r"),
    *(b"\n", b"\r\n", b"\x00", b"\x07", b"\x1b[2J", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8"),
    *(b"\xe2\x80\xae", b"\xef\xbb\xbf", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80"),
    *(b"pipeline: ", b"volumes:\n", b"id: ", b"env: {A: b}\n", b"steps:\n", b"sizes: ", b"= "),
)
_CODECS: Final = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "cp1252")
_MOST: Final = 6

Mutation = Callable[[Random, bytes, Sequence[bytes]], bytes]


def mutated(random: Random, document: bytes, others: Sequence[bytes]) -> bytes:
    """`document` after one to six mutations; `others` are documents to splice with."""
    for _ in range(random.randint(1, _MOST)):
        document = random.choice(_MUTATIONS)(random, document, others)
    return document


def _flip(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    changed = bytearray(document)
    for _ in range(random.randint(1, 4)):
        if changed:
            changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _overwrite(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    changed = bytearray(document)
    if changed:
        changed[random.randrange(len(changed))] = random.randrange(256)
    return bytes(changed)


def _insert(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    return _with(document, random.randint(0, len(document)), random.choice(_INSERTED))


def _insert_at_token(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    tokens = _TOKEN.findall(document)
    tokens.insert(random.randint(0, len(tokens)), random.choice(_INSERTED))
    return b"".join(tokens)


def _delete_tokens(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    tokens = _TOKEN.findall(document)
    start = random.randint(0, len(tokens))
    del tokens[start : start + random.randint(1, 5)]
    return b"".join(tokens)


def _duplicate_tokens(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    tokens = _TOKEN.findall(document)
    start = random.randint(0, len(tokens))
    part = tokens[start : start + random.randint(1, 12)]
    at = random.randint(0, len(tokens))
    tokens[at:at] = part * random.choice((1, 1, 1, 2, 40))
    return b"".join(tokens)


def _shuffle_lines(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    lines = document.splitlines(keepends=True)
    start = random.randint(0, len(lines))
    end = min(len(lines), start + random.randint(2, 8))
    part = lines[start:end]
    random.shuffle(part)
    return b"".join((*lines[:start], *part, *lines[end:]))


def _change_indentation(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    lines = document.splitlines(keepends=True)
    if not lines:
        return document
    start = random.randrange(len(lines))
    by = random.choice((b" ", b"  ", b"    ", b"\t", b""))
    for index in range(start, min(len(lines), start + random.randint(1, 5))):
        stripped = lines[index].lstrip(b" ")
        kept = lines[index][: (len(lines[index]) - len(stripped)) * bool(by)]
        lines[index] = kept + by + stripped
    return b"".join(lines)


def _splice(random: Random, document: bytes, others: Sequence[bytes]) -> bytes:
    other = random.choice(others)
    if random.random() < 0.5:
        mine, theirs = (each.splitlines(keepends=True) for each in (document, other))
        return b"".join(
            (*mine[: random.randint(0, len(mine))], *theirs[random.randint(0, len(theirs)) :])
        )
    return document[: random.randint(0, len(document))] + other[random.randint(0, len(other)) :]


def _insert_part(random: Random, document: bytes, others: Sequence[bytes]) -> bytes:
    lines = random.choice(others).splitlines(keepends=True)
    start = random.randint(0, len(lines))
    part = b"".join(lines[start : start + random.randint(1, 6)])
    return _with(document, random.randint(0, len(document)), part)


def _encode(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    text = document.decode("utf-8", "replace")
    return text.encode(random.choice(_CODECS), "replace")


def _line_ends(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    return document.replace(b"\n", random.choice((b"\r\n", b"\r", b"\xc2\x85", b"\n\n", b" ")))


def _truncate(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    return document[: random.randint(0, len(document))]


def _nest(random: Random, document: bytes, _others: Sequence[bytes]) -> bytes:
    opening, closing = random.choice(((b"[", b"]"), (b"{a: ", b"}"), (b"- ", b""), (b"? ", b"")))
    depth = random.choice((1, 3, 63, 65, 1000))
    at = random.randint(0, len(document))
    end = random.randint(at, len(document))
    return document[:at] + opening * depth + document[at:end] + closing * depth + document[end:]


def _with(document: bytes, at: int, part: bytes) -> bytes:
    return document[:at] + part + document[at:]


_MUTATIONS: Final[tuple[Mutation, ...]] = (
    _flip,
    _overwrite,
    _insert,
    _insert,
    _insert_at_token,
    _insert_at_token,
    _delete_tokens,
    _duplicate_tokens,
    _shuffle_lines,
    _change_indentation,
    _change_indentation,
    _splice,
    _insert_part,
    _encode,
    _line_ends,
    _truncate,
    _nest,
)
