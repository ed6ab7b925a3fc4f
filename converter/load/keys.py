"""Mistakes that only the keys of a document can have; a schema never sees them."""

from collections.abc import Iterable, Iterator

from converter.load.mistakes import Mistake
from converter.load.nodes import Kind, Node, is_merge, parts, reachable
from converter.load.scalars import is_text_key, reading
from converter.load.wording import quoted, shown


def key_mistakes(
    root: Node, opaque: Node | None = None, ignored: Iterable[Node] = ()
) -> Iterator[Mistake]:
    """Keys that are written twice in one mapping, and keys that are no text.

    Below `opaque`, which nothing here reads, keys may be numbers and the like. What is in an
    `ignored` node is not looked at.
    """
    # What aliases share is looked at once, and strictly where that is needed.
    seen = {id(opaque), *map(id, ignored)}
    for node in reachable([root], seen):
        yield from _of_mapping(node, text_only=True)
    if opaque is not None:
        yield from _of_mapping(opaque, text_only=False)
        for node in reachable(parts(opaque), seen):
            yield from _of_mapping(node, text_only=False)


def _of_mapping(node: Node, text_only: bool) -> Iterator[Mistake]:
    first: dict[str, Node] = {}
    for key, _ in node.pairs:
        if key.kind is not Kind.SCALAR:
            what = "a list" if key.kind is Kind.LIST else "a mapping"
            yield _mistake(key, "F005", f"a key is {what}", "write text as the key")
        elif key.text in first:
            yield _twice(first[key.text], key)
        else:
            first[key.text] = key
            if text_only and key.plain and not is_merge(key) and not is_text_key(key.text):
                yield _not_text(key)


def _twice(first: Node, second: Node) -> Mistake:
    lines = f"lines {first.line} and {second.line}"
    where = lines if first.line != second.line else f"line {first.line} twice"
    message = f"the key {shown(second.text)} is in {where}"
    return _mistake(second, "F003", message, "keep one of them")


def _not_text(key: Node) -> Mistake:
    message = f"YAML reads the key {shown(key.text)} as {reading(key.value)}"
    return _mistake(key, "F007", message, f"put it in quotes: {quoted(key.text)}")


def _mistake(key: Node, code: str, message: str, remedy: str) -> Mistake:
    return Mistake(key.line, key.column, code, message, remedy)
