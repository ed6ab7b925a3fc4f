"""The answer to a watch: one JSON document a line, for as long as the server sends them.

https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
"""

import json
from collections.abc import Iterator
from contextlib import closing, suppress
from typing import Any

import urllib3
from urllib3.response import BaseHTTPResponse

from converter.cluster.kueue_versions import as_wanted
from converter.cluster.status import api_error


def changes(response: BaseHTTPResponse, target: str) -> Iterator[dict[str, Any]]:
    """Each change that an answer tells of, until the connection breaks or falls silent.

    Raises `ApiError` at once for an answer that is a failure, and later for one in its midst.
    """
    if response.status >= 300:
        with closing(response):
            raise api_error("watch", target, response.status, _document(response.read()))
    return _events(response, target)


def _events(response: BaseHTTPResponse, target: str) -> Iterator[dict[str, Any]]:
    # Closed, not given back to the pool: the server would go on sending.
    with closing(response), suppress(urllib3.exceptions.HTTPError):
        for line in response:
            event = _document(line)
            if event.get("type") == "ERROR":
                status = event.get("object") or {}
                raise api_error("watch", target, int(status.get("code") or 500), status)
            if "object" in event:
                yield {**event, "object": as_wanted(event["object"])}


def _document(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except ValueError:
        # The last line of a broken connection.
        return {}
    return found if isinstance(found, dict) else {}
