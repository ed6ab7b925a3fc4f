"""Where the parts of a file stand, found when somebody asks."""

from functools import cached_property

from converter.load.nodes import Node, compose


class TextPositions:
    """`converter.load.result.Positions` of a text that is YAML. Its tree is made once, when asked.

    A valid file is asked only by rules that find something; until then it costs nothing.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, *path: str | int) -> tuple[int, int]:
        """Line and column of a value, or of the nearest thing around it.

        Of what is in an entry of a list that is an alias, those of the alias: the rest of the list
        is what makes it wrong.
        """
        node = self.root
        for step in path:
            if step in node.places:
                return node.places[step]
            found = _within(node, step)
            if found is None:
                break
            _, node = found
        return node.line, node.column

    def key(self, *path: str | int) -> tuple[int, int]:
        """Line and column of the key that ends `path`; of a list's entry, or where there is none,
        of the value."""
        node, key = self._find(path)
        at = key or node
        return at.line, at.column

    def node(self, *path: str | int) -> Node:
        """The value itself, or the nearest thing around it."""
        return self._find(path)[0]

    @cached_property
    def root(self) -> Node:
        """The whole document."""
        return compose(self._text)

    def _find(self, path: tuple[str | int, ...]) -> tuple[Node, Node | None]:
        node, key = self.root, None
        for step in path:
            found = _within(node, step)
            if found is None:
                # What is missing belongs to the thing found so far, not to that thing's key.
                return node, None
            key, node = found
        return node, key


def _within(node: Node, step: str | int) -> tuple[Node | None, Node] | None:
    """The key, if there is one, and the value that one step of a path leads to."""
    if isinstance(step, int) and -1 < step < len(node.items):
        return None, node.items[step]
    if isinstance(step, str) and step in node.entries:
        return node.entries[step]
    return None
