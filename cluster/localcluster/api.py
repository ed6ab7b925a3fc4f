"""Small requests to the cluster's own servers: is it ready, and the administrator's requests."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from localcluster.errors import ClusterError
from localcluster.pki import Pair

TIMEOUT = 5.0
"""Seconds for one request that reads."""

WRITE_TIMEOUT = 60.0
"""Seconds for one request that writes: a new CRD on a busy machine takes some."""

PARALLEL = 8
"""How many objects are applied at once: a new CRD is mostly waited for."""

FIRST_KINDS = frozenset({"Namespace", "CustomResourceDefinition"})
"""What other objects of the same list are in, or of."""

APPLY = "application/apply-patch+yaml"
MERGE = "application/merge-patch+json"

Object = Mapping[str, Any]


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
    """The API server as its administrator sees it, without the second that kubectl takes."""

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
        return self._send(urllib.request.Request(self._url + path), TIMEOUT)  # noqa: S310 - https

    def merge(self, path: str, patch: Object) -> None:
        """A JSON merge patch (RFC 7386) of the object at `path`; raises ClusterError."""
        self._patch(path, patch, MERGE)

    def apply(self, objects: Iterable[Object]) -> None:
        """Server-side apply as the field manager `localcluster`, namespaces and CRDs before others.

        An object of a CRD has to come in a later call. Raises ClusterError where one is refused.
        """
        ordered = list(objects)
        kinds = self._kinds({item["apiVersion"] for item in ordered})
        with ThreadPoolExecutor(PARALLEL) as pool:
            for wanted in (True, False):
                group = [item for item in ordered if (item["kind"] in FIRST_KINDS) is wanted]
                paths = [f"{object_path(item, kinds)}?{_AS_MANAGER}" for item in group]
                list(pool.map(self._patch, paths, group, [APPLY] * len(group)))

    def _kinds(self, api_versions: Iterable[str]) -> dict[tuple[str, str], tuple[str, bool]]:
        """The resource of each kind of these API versions, and whether it is in a namespace."""
        return {
            (api_version, found["kind"]): (found["name"], found["namespaced"])
            for api_version in api_versions
            for found in (self.get(_root(api_version)) or {"resources": []})["resources"]
            if "/" not in found["name"]
        }

    def _patch(self, path: str, content: Object, content_type: str) -> None:
        request = urllib.request.Request(  # noqa: S310 - https
            self._url + path,
            data=json.dumps(content).encode(),
            headers={"Content-Type": content_type},
            method="PATCH",
        )
        if self._send(request, WRITE_TIMEOUT) is None:
            raise ClusterError(f"PATCH {path}: there is nothing there")

    def _send(self, request: urllib.request.Request, timeout: float) -> Any:
        what = f"{request.get_method()} {request.selector}"
        try:
            with self._opener.open(request, timeout=timeout) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            if error.code == http.HTTPStatus.NOT_FOUND:
                return None
            raise ClusterError(f"{what}: {error.code} {_message(error)}") from error
        except (OSError, http.client.HTTPException) as error:
            raise ClusterError(f"{what}: the API server does not answer: {error}") from error


_AS_MANAGER = "fieldManager=localcluster&force=true"


def object_path(item: Object, kinds: Mapping[tuple[str, str], tuple[str, bool]]) -> str:
    """The path of an object, by what the server said of its kind.

    Raises ClusterError where it does not serve that kind.
    """
    served = kinds.get((item["apiVersion"], item["kind"]))
    if served is None:
        raise ClusterError(f"the API server has no {item['kind']} in {item['apiVersion']}")
    resource, namespaced = served
    metadata = item["metadata"]
    within = f"/namespaces/{metadata['namespace']}" if namespaced else ""
    return f"{_root(item['apiVersion'])}{within}/{resource}/{metadata['name']}"


def _message(error: urllib.error.HTTPError) -> str:
    """What the server says is wrong, in a Status or in plain text."""
    answer = error.read().decode(errors="replace")
    try:
        status = json.loads(answer)
    except json.JSONDecodeError:
        return answer.strip()[:1000]
    return str(status.get("message", answer)) if isinstance(status, dict) else answer


def _root(api_version: str) -> str:
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def _opener(context: ssl.SSLContext) -> urllib.request.OpenerDirector:
    # Never through a proxy: everything is on this machine.
    return urllib.request.build_opener(
        urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
    )
