"""The bodies of requests and answers."""

import json
import re
import socket
from typing import Any, Final

import urllib3
from urllib3.connection import HTTPConnection

from converter.cluster.kubeconfig import one_line

# What YAML takes as an escape alone, or as either. Others it takes as they are alone.
_ESCAPED = re.compile("[\\x7f-\\uffff]")

# How long the kernel goes on sending what no server has acknowledged: less than the margin by which
# a request may come late (``converter.holds.deadline``). Without it, one that was given up reaches
# the server a quarter of an hour later, when the network is back.
UNACKNOWLEDGED_SECONDS: Final = 4


def socket_options() -> list[tuple[int, int, int]]:
    """The options of a connection; where the system has no such limit, there is none."""
    options = list(HTTPConnection.default_socket_options)
    if limit := getattr(socket, "TCP_USER_TIMEOUT", None):
        options.append((socket.IPPROTO_TCP, limit, UNACKNOWLEDGED_SECONDS * 1000))
    return options


def json_object(data: bytes) -> dict[str, Any] | None:
    """An answer's document; None where it is no JSON object."""
    try:
        document = json.loads(data)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def text_of(data: bytes) -> str:
    """The beginning of an answer, on one line."""
    return " ".join(data[:200].decode("utf-8", "replace").split())


def cause_of(error: urllib3.exceptions.HTTPError) -> str:
    """What went wrong, without the story of the retries around it."""
    reason = getattr(error, "reason", None) or error
    cause = reason.__cause__ if isinstance(reason, Exception) else None
    return one_line(cause or reason)


def as_json_and_yaml(body: Any) -> bytes:
    """JSON that is YAML too: an API server reads an apply patch with a parser of YAML 1.1.

    That takes no pair of escaped surrogates, which JSON may write for a character above U+FFFF, and
    no DEL or other control character as it is.
    """
    text = json.dumps(body, ensure_ascii=False)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode()
