"""The values of a document's tree, as the schemas and the model take them."""

from typing import Any, Final

from converter.load.nodes import Kind, Node
from converter.load.scalars import Misread

# Stands for a scalar that has no agreed value. Where the schemas expect anything but an amount
# they refuse it, and no file that has one is loaded.
MISREAD: Final = 0.5


def from_node(node: Node) -> Any:
    """Dicts, lists, text, numbers, booleans and None."""
    if node.kind is Kind.LIST:
        return [from_node(item) for item in node.items]
    if node.kind is Kind.MAPPING:
        return {name: from_node(value) for name, (_, value) in node.entries.items()}
    value = node.value
    return MISREAD if isinstance(value, Misread) else value


def for_schema(values: Any) -> Any:
    """The values, with numbers such as 20.0 replaced by one that is no integer.

    For JSON Schema 20.0 is an integer. In a file it is a mistake, and whoever reads ``window:
    20.0`` with another library gets a float.
    """
    if isinstance(values, list):
        return [for_schema(value) for value in values]
    if isinstance(values, dict):
        return {name: for_schema(value) for name, value in values.items()}
    if isinstance(values, float) and values.is_integer():
        return 0.5 if values > 0 else -0.5
    return values
