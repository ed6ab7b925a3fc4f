"""A YAML document as a tree that knows where everything stands.

The tree is made when something is wrong with a file, or when it uses anchors: `quick.read` takes
the rest. Aliases share the node of their anchor, and merge keys are already merged in.

The events are PyYAML's, from libyaml 0.2. The libyaml 0.1 inside ruamel.yaml.clib refuses the
colon of ``[https://example.org]``, which is how many people write a list of URLs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from yaml import CSafeLoader, MarkedYAMLError, YAMLError
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from converter.load.scalars import Misread, Scalar, plain_scalar
from converter.load.syntax import Malformed, control_character, syntax_error

MAX_DEPTH: Final = 64
MAX_VALUES: Final = 2_000_000

_TEXT_TAGS: Final = ("!", "tag:yaml.org,2002:str")
_MERGE: Final = "<<"
_REMOVE_TAG: Final = "remove the tag, or put text that begins with ! in quotes"
# Stands for a scalar that has no agreed value. No schema accepts it anywhere: it is neither whole
# nor an amount.
_MISREAD: Final = -0.5


class Kind(Enum):
    """What a node is."""

    SCALAR = "scalar"
    LIST = "list"
    MAPPING = "mapping"


@dataclass(slots=True, eq=False)
class Node:
    """One value of a document. Lines and columns count from 1.

    `text` and `plain` belong to a scalar, `items` to a list. A mapping has its own pairs of nodes
    in `pairs`, in the order of the file; `entries` has what it means, with merged keys. `braces`
    says that it is written in { }.
    `places` has line and column of those entries of a list that are aliases: the nodes themselves
    stand where their anchors are. `count` is the number of values in it, itself included, aliases
    expanded; `height` the number of levels.
    """

    kind: Kind
    line: int
    column: int
    text: str = ""
    plain: bool = False
    items: list["Node"] = field(default_factory=list)
    pairs: list[tuple["Node", "Node"]] = field(default_factory=list)
    entries: dict[str, tuple["Node", "Node"]] = field(default_factory=dict)
    braces: bool = False
    places: dict[str | int, tuple[int, int]] = field(default_factory=dict)
    count: int = 1
    height: int = 1

    @property
    def value(self) -> Scalar:
        """The value of a scalar; what is quoted, or tagged as text, is text."""
        return plain_scalar(self.text) if self.plain else self.text


def compose(text: str) -> Node:
    """The tree of the one document in `text`. Raises Malformed."""
    composer = _Composer(CSafeLoader(text))
    try:
        return composer.document()
    except MarkedYAMLError as error:
        raise syntax_error(error, text) from error
    except YAMLError as error:
        raise control_character(text) from error


def plain_values(node: Node, misread: Callable[[Misread], Any] = lambda _: _MISREAD) -> Any:
    """What a node stands for: dicts, lists, text, numbers, booleans and None.

    `misread` gives what stands for a scalar that readers of YAML disagree about.
    """
    if node.kind is Kind.LIST:
        return [plain_values(item, misread) for item in node.items]
    if node.kind is Kind.MAPPING:
        return {name: plain_values(value, misread) for name, (_, value) in node.entries.items()}
    value = node.value
    return misread(value) if isinstance(value, Misread) else value


class _Composer:
    """Events in, nodes out."""

    def __init__(self, parser: CSafeLoader) -> None:
        self._next = parser.get_event
        self._anchors: dict[str, Node | None] = {}

    def document(self) -> Node:
        self._next()
        event = self._next()
        if not isinstance(event, DocumentStartEvent):
            return Node(Kind.SCALAR, 1, 1, plain=True)
        root = self._node(self._next(), 0)
        if root.plain and not root.text:
            # Nothing is in no place: libyaml has the one behind the end of the file.
            root.line = root.column = 1
        self._next()
        event = self._next()
        if not isinstance(event, StreamEndEvent):
            raise _malformed(
                event, "a second document begins here", "keep one document in a file: remove ---"
            )
        return root

    def _node(self, event: Any, depth: int) -> Node:
        if isinstance(event, AliasEvent):
            return self._alias(event)
        if depth >= MAX_DEPTH:
            raise _too_deep(event)
        if event.anchor:
            # Known but not complete: an alias to it inside itself would never end.
            self._anchors[event.anchor] = None
        node = self._bare_node(event, depth)
        if node.count > MAX_VALUES:
            raise _malformed(
                event,
                f"more than {MAX_VALUES:,} values, with aliases expanded",
                "split the file, or use fewer aliases",
            )
        if node.height > MAX_DEPTH:
            # Not deep in the text, but through aliases of aliases.
            raise _too_deep(event)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: Any) -> Node:
        name = event.anchor
        if name not in self._anchors:
            raise _malformed(
                event,
                f"the alias *{name} has no anchor before it",
                f"write &{name} at the value that is meant, or put text that begins with * in "
                "quotes",
            )
        node = self._anchors[name]
        if node is None:
            raise _malformed(
                event, f"the alias *{name} stands inside its own anchor", "write the value out"
            )
        return node

    def _bare_node(self, event: Any, depth: int) -> Node:
        line, column = event.start_mark.line + 1, event.start_mark.column + 1
        tag = event.tag
        if isinstance(event, ScalarEvent):
            if tag is not None and tag not in _TEXT_TAGS:
                raise _tagged(event)
            plain = tag is None and event.implicit[0]
            return Node(Kind.SCALAR, line, column, text=event.value, plain=plain)
        if isinstance(event, SequenceStartEvent):
            if tag not in (None, "!", "tag:yaml.org,2002:seq"):
                raise _tagged(event)
            return self._list(Node(Kind.LIST, line, column), depth + 1)
        if tag not in (None, "!", "tag:yaml.org,2002:map"):
            raise _tagged(event)
        nodes = self._until(MappingEndEvent, depth + 1)
        node = _mapping(line, column, list(zip(nodes, nodes, strict=True)))
        node.braces = event.flow_style
        return node

    def _list(self, node: Node, depth: int) -> Node:
        while not isinstance(event := self._next(), SequenceEndEvent):
            if isinstance(event, AliasEvent):
                mark: Any = event.start_mark
                node.places[len(node.items)] = (mark.line + 1, mark.column + 1)
            node.items.append(self._node(event, depth))
        return _measured(node, node.items)

    def _until(self, end: type[Any], depth: int) -> Iterator[Node]:
        while not isinstance(event := self._next(), end):
            yield self._node(event, depth)


def reachable(waiting: list[Node], seen: set[int]) -> Iterator[Node]:
    """The nodes in `waiting` and all below them, in an order that the document's form decides.

    Each once, and none whose id is in `seen`, where those that come are added.
    """
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += parts(node)


def parts(node: Node) -> list[Node]:
    """The entries of a list, the keys and values of a mapping."""
    return [*node.items, *(part for pair in node.pairs for part in pair)]


def _mapping(line: int, column: int, pairs: list[tuple[Node, Node]]) -> Node:
    own: dict[str, tuple[Node, Node]] = {}
    merged: dict[str, tuple[Node, Node]] = {}
    for key, value in pairs:
        if value.plain and not value.text and value.line > key.line:
            # "? key" without a value: libyaml has the one in front of whatever comes next.
            value.line, value.column = key.line, key.column
        if is_merge(key):
            for name, entry in _merged_entries(value):
                merged.setdefault(name, entry)
        elif key.kind is Kind.SCALAR:
            # Of a key that is there twice the first counts, and the second is a problem.
            own.setdefault(key.text, (key, value))
    node = Node(Kind.MAPPING, line, column, pairs=pairs, entries=merged | own)
    pairs_and_merged = [*pairs, *(entry for name, entry in merged.items() if name not in own)]
    return _measured(node, [part for pair in pairs_and_merged for part in pair])


def _measured(node: Node, parts: list[Node]) -> Node:
    node.count += sum(part.count for part in parts)
    node.height += max((part.height for part in parts), default=0)
    return node


def is_merge(key: Node) -> bool:
    """Whether a key is the merge key of YAML 1.1."""
    return key.plain and key.text == _MERGE


def _merged_entries(value: Node) -> Iterator[tuple[str, tuple[Node, Node]]]:
    sources = value.items if value.kind is Kind.LIST else [value]
    for source in sources:
        if source.kind is not Kind.MAPPING:
            raise Malformed(
                source.line,
                source.column,
                "the merge key << is given something that is no mapping",
                "give it an alias of a mapping, such as *defaults",
            )
        yield from source.entries.items()


def _too_deep(event: Any) -> Malformed:
    return _malformed(
        event, f"more than {MAX_DEPTH} levels of nesting", "write it with fewer levels"
    )


def _tagged(event: Any) -> Malformed:
    tag = str(event.tag).replace("tag:yaml.org,2002:", "!!")
    remedy = "remove the tag" if tag.startswith("!!") else _REMOVE_TAG
    return _malformed(event, f"the tag {tag} is not supported", remedy)


def _malformed(event: Any, message: str, remedy: str) -> Malformed:
    mark = event.start_mark
    return Malformed(mark.line + 1, mark.column + 1, message, remedy)
