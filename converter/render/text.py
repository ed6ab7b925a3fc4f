"""Values as YAML text: the same bytes for the same value, read alike by YAML 1.1 and 1.2."""

import re
from io import BytesIO
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import SafeRepresenter

# Words that no parser takes for a number, a date or anything else than text. What else starts
# with a letter is quoted too when a YAML 1.1 parser (kubectl's) would read it as true or null.
_PLAIN: Final = re.compile(r"[A-Za-z/][A-Za-z0-9/._-]*(?: [A-Za-z0-9/._-]+)*\Z")
_NOT_TEXT: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
# What a literal block keeps as it is; the first line must not start with a blank.
_BLOCK: Final = re.compile(r"[^\s][^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]*\n\Z")
_ANY_WIDTH: Final = 2**30


class _Representer(SafeRepresenter):
    """Text is quoted unless it is plainly text; several lines are a literal block."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(representer: SafeRepresenter, text: str) -> ScalarNode:
    if _BLOCK.match(text):
        style = "|"
    elif _PLAIN.match(text) and text.lower() not in _NOT_TEXT:
        style = None
    else:
        style = '"'
    return representer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _float(representer: SafeRepresenter, number: float) -> ScalarNode:
    # A YAML 1.1 parser takes 1e-05 for text: it wants a point before the exponent.
    text = re.sub(r"^(-?[0-9]+)e", r"\1.0e", repr(number))
    return representer.represent_scalar("tag:yaml.org,2002:float", text)


_Representer.add_representer(str, _text)
_Representer.add_representer(float, _float)


def yaml_text(value: Any) -> str:
    """`value` (dicts, lists and scalars) as one YAML document, keys in the order that they have."""
    emitter = YAML(typ="safe")
    emitter.Representer = _Representer
    emitter.default_flow_style = False
    emitter.representer.sort_base_mapping_type_on_output = False
    emitter.allow_unicode = True
    emitter.width = _ANY_WIDTH
    stream = BytesIO()
    emitter.dump(value, stream)
    return stream.getvalue().decode()
