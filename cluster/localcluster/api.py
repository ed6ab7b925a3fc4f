"""Small requests to the cluster's own servers: is it ready, and the administrator's GETs."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from localcluster.errors import ClusterError
from localcluster.pki import Pair

TIMEOUT = 5.0
"""Seconds for one request."""


def answers(url: str) -> bool:
    """Whether a GET of this health endpoint is answered with 200.

    Its certificate is not looked at: some components make up their own, and nothing is sent.
    """
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    try:
        with _opener(context).open(url, timeout=TIMEOUT) as response:
            return bool(response.status == http.HTTPStatus.OK)
    except (OSError, http.client.HTTPException):
        return False


class Api:
    """GETs from the API server as its administrator."""

    def __init__(self, url: str, ca: Path, client: Pair) -> None:
        self._url = url
        context = ssl.create_default_context(cafile=ca)
        context.load_cert_chain(client.cert, client.key)
        self._opener = _opener(context)
        self._opener.addheaders = [("User-Agent", "localcluster"), ("Accept", "application/json")]

    def get(self, path: str) -> Any:
        """The JSON value at `path`, or None where there is nothing (404).

        Raises ClusterError where the server answers with another error, or not at all.
        """
        try:
            with self._opener.open(self._url + path, timeout=TIMEOUT) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == http.HTTPStatus.NOT_FOUND:
                return None
            raise ClusterError(f"GET {path}: {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"GET {path}: the API server does not answer: {error}") from error


def _opener(context: ssl.SSLContext) -> urllib.request.OpenerDirector:
    # Never through a proxy: everything is on this machine.
    return urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
