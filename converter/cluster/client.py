"""A small client for the JSON API of an API server.

Configuration, authentication and TLS are the ``kubernetes`` package's; requests go through its
connection pool as plain JSON, because its models drop fields that a newer server knows.
"""

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, Self
from urllib.parse import urlencode

import urllib3
from kubernetes.client.configuration import Configuration
from kubernetes.client.rest import RESTClientObject
from kubernetes.config import ConfigException
from urllib3.util import Timeout

from converter import __version__
from converter.cluster.clock import ServerClock
from converter.cluster.kubeconfig import load_configuration, one_line
from converter.cluster.kueue_versions import KueueVersions, as_wanted
from converter.cluster.resend import retries
from converter.cluster.resources import Resource
from converter.cluster.sending import asking, prepare
from converter.cluster.status import api_error
from converter.cluster.watch import changes
from converter.cluster.wire import as_json_and_yaml, cause_of, json_object, text_of
from converter.errors import ApiError, ClusterUnavailable, Conflict, NoCredentials, NotFound

Object = dict[str, Any]

APPLY_PATCH = "application/apply-patch+yaml"
MERGE_PATCH = "application/merge-patch+json"
CONNECT_SECONDS = 5.0


class Limit(Protocol):
    """The time that requests have together; `rest` is in seconds."""

    @property
    def rest(self) -> float:
        """Seconds that are left."""
        ...

    def check(self, what: str) -> None:
        """Raise where there is no time left for `what`."""
        ...


@dataclass(frozen=True, slots=True)
class Listing:
    """The objects of a LIST, and the resourceVersion from which a watch of them goes on."""

    items: tuple[Object, ...]
    version: str


class Client:
    """Requests to one API server.

    Every method raises `ApiError` (one of its kinds) when the server answers with a failure and
    `ClusterUnavailable` when it does not answer. `request_timeout` is in seconds and is the
    longest wait for one answer.
    """

    def __init__(self, configuration: Configuration, *, request_timeout: float = 60.0) -> None:
        # Applies run side by side; each needs a connection of its own.
        configuration.connection_pool_maxsize = 32
        self._configuration = configuration
        self._pool = RESTClientObject(configuration).pool_manager
        prepare(self._pool)
        self._request_timeout = request_timeout
        self._timeout = Timeout(connect=CONNECT_SECONDS, read=request_timeout)
        self._before_write: Callable[[], None] | None = None
        self._limit: Limit | None = None
        self._clock: ServerClock = ServerClock()
        self._kueue = KueueVersions(self.discover)

    @classmethod
    def from_kubeconfig(
        cls,
        *,
        kubeconfig: Path | None = None,
        context: str | None = None,
        request_timeout: float = 60.0,
    ) -> Self:
        """A client as kubectl would make it: a kubeconfig if there is one, else the pod's own.

        Raises ClusterUnavailable when there are no usable credentials.
        """
        return cls(load_configuration(kubeconfig, context), request_timeout=request_timeout)

    def guarded_by(self, check: Callable[[], None]) -> Self:
        """The same client, calling `check` immediately before each write it sends.

        A dry run counts as a write: a run that lost its Lease has no business sending one.
        """
        guarded = copy.copy(self)
        guarded._before_write = check
        return guarded

    def within(self, limit: Limit) -> Self:
        """The same client, whose requests each end within what is left of the limit.

        `check` is asked immediately before each one, and none is sent a second time.
        """
        limited = copy.copy(self)
        limited._limit = limit
        limited._kueue = self._kueue.asking(limited.discover)
        return limited

    def check(self) -> None:
        """What is called before each write, called now: for a wait in which nothing is written."""
        if self._before_write is not None:
            self._before_write()

    @property
    def longest_try_seconds(self) -> float:
        """How long one try of a request may take; before the next the guard is asked again."""
        return CONNECT_SECONDS + self._request_timeout

    def now(self) -> datetime:
        """The API server's clock, from its last answer and the time since. Always in UTC.

        Raises ClusterUnavailable when no answer so far had a Date header.
        """
        return self._clock.now()

    def list(
        self, resource: Resource, namespace: str, *, selector: str = "", fields: str = ""
    ) -> tuple[Object, ...]:
        """Every object of one kind in a namespace, of those that label and field selectors choose.

        Raises `ApiError` and `ClusterUnavailable`.
        """
        return self.listing(resource, namespace, selector=selector, fields=fields).items

    def listing(
        self, resource: Resource, namespace: str, *, selector: str = "", fields: str = ""
    ) -> Listing:
        """The same with the version at which it was read, page by page.

        The server forgets how to go on after some minutes (410); the list is then read anew, once.
        """
        chosen = _selectors(selector, fields)
        try:
            return self._pages(resource, namespace, chosen)
        except ApiError as error:
            if error.status != 410:
                raise
            return self._pages(resource, namespace, chosen)

    def _pages(self, resource: Resource, namespace: str, chosen: Mapping[str, str]) -> Listing:
        items: list[Object] = []
        token = ""
        while True:
            query = {"limit": str(resource.page), **chosen}
            if token:
                query["continue"] = token
            page = self._request(
                "GET", resource.path(namespace), f"{resource.plural} in {namespace}", query=query
            )
            items.extend(page.get("items") or ())
            token = page["metadata"].get("continue", "")
            if not token:
                return Listing(tuple(items), str(page["metadata"].get("resourceVersion", "")))

    def watch(
        self, resource: Resource, namespace: str, version: str, *, selector: str = ""
    ) -> Iterator[Object]:
        """The changes after a version, as they come: ``{"type": ..., "object": ...}``.

        When this returns, the server has agreed. The changes end when the server ends them, or
        says nothing for `request_timeout` seconds; a new watch goes on from the resourceVersion of
        the last object (a BOOKMARK has nothing else). Raises `ApiError`, as the changes do, where
        the version is too old (410): the list has to be read anew.
        """
        query = {"watch": "true", "resourceVersion": version, "allowWatchBookmarks": "true"}
        target = f"{resource.plural} in {namespace}"
        path = self._kueue.path(resource.path(namespace))
        path += f"?{urlencode(query | _selectors(selector, ''))}"
        try:
            response = self._pool.request(
                "GET",
                self._configuration.host + path,
                headers=self._headers(),
                timeout=self._timeout,
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except urllib3.exceptions.HTTPError as error:
            raise self._unanswered("watch", target, error) from error
        self._clock.observe(response.headers.get("Date"))
        return changes(response, target)

    def discover(self, path: str) -> Object:
        """What the server tells of itself at ``/version`` or ``/apis/<group>``, for example."""
        return self._send("GET", path, path)

    def get(
        self, resource: Resource, namespace: str, name: str, *, subresource: str = "", **query: str
    ) -> Object:
        """One object, or what a subresource of it says. Raises NotFound when there is none."""
        path = resource.path(namespace, name) + (f"/{subresource}" if subresource else "")
        return self._request("GET", path, f"{resource.kind}/{name}", query=query)

    def apply(
        self,
        resource: Resource,
        namespace: str,
        body: Mapping[str, Any],
        *,
        manager: str,
        force: bool = False,
        dry_run: bool = False,
        create: bool = False,
    ) -> Object:
        """Server-side apply of one object; the object as it then is.

        Raises Conflict when a field belongs to another manager and `force` is false. With `create`
        also when the object is there already: sensible for a dry run, since the answer to the
        second try of a write that was lost says the same.
        """
        name = body["metadata"]["name"]
        query = {"fieldManager": manager, "fieldValidation": "Strict"}
        if force:
            query["force"] = "true"
        if dry_run:
            query["dryRun"] = "All"
        return self._request(
            "PATCH",
            resource.path(namespace, name),
            f"{resource.kind}/{name}",
            query=query,
            body=body,
            content_type=APPLY_PATCH,
            create=create,
        )

    def merge_patch(
        self,
        resource: Resource,
        namespace: str,
        name: str,
        patch: Mapping[str, Any],
        manager: str,
        *,
        dry_run: bool = False,
    ) -> Object:
        """JSON merge patch of one object; the object as it then is."""
        strict = {"fieldManager": manager, "fieldValidation": "Strict"}
        return self._request(
            "PATCH",
            resource.path(namespace, name),
            f"{resource.kind}/{name}",
            query=strict | ({"dryRun": "All"} if dry_run else {}),
            body=patch,
            content_type=MERGE_PATCH,
        )

    def create(
        self, resource: Resource, namespace: str, body: Mapping[str, Any], *, dry_run: bool = False
    ) -> Object:
        """Create one object. Raises Conflict when it exists already."""
        return self._request(
            "POST",
            resource.path(namespace),
            f"{resource.kind}/{body['metadata']['name']}",
            query={"dryRun": "All"} if dry_run else None,
            body=body,
        )

    def replace(self, resource: Resource, namespace: str, body: Mapping[str, Any]) -> Object:
        """Update one object. Raises Conflict when its resourceVersion is no longer the one read."""
        name = body["metadata"]["name"]
        strict = {"fieldValidation": "Strict"}
        path = resource.path(namespace, name)
        return self._request("PUT", path, f"{resource.kind}/{name}", query=strict, body=body)

    def delete(
        self, resource: Resource, namespace: str, name: str, *, uid: str, version: str = ""
    ) -> None:
        """Delete the object with this uid, its dependents in the background.

        An object that is gone already counts as deleted; one that was made again under the same
        name has another uid and raises Conflict. So does one that has changed since, if its
        resourceVersion is given as `version`.
        """
        preconditions = {"uid": uid} | ({"resourceVersion": version} if version else {})
        self._request(
            "DELETE",
            resource.path(namespace, name),
            f"{resource.kind}/{name}",
            body={"preconditions": preconditions, "propagationPolicy": "Background"},
            missing_ok=True,
        )

    def _request(self, method: str, path: str, target: str, **how: Any) -> Object:
        """One request, in the version of Kueue's API that the server has."""
        try:
            return as_wanted(self._send(method, self._kueue.path(path), target, **how))
        except NotFound as error:
            if not self._kueue.is_another(path, error):
                raise
            return as_wanted(self._send(method, self._kueue.path(path), target, **how))

    def _send(
        self,
        method: str,
        path: str,
        target: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        content_type: str = "application/json",
        missing_ok: bool = False,
        create: bool = False,
    ) -> Object:
        check = None if method == "GET" else self._before_write
        if check is not None:
            check()
        verb = "read" if method == "GET" else method.lower()
        headers = self._headers()
        if body is not None:
            headers["Content-Type"] = content_type
        url = self._configuration.host + path
        if query:
            url += "?" + urlencode(query)
        if self._limit is not None:
            self._limit.check(f"{verb} {target}")
        try:
            with asking(lambda: self._limit.check(f"{verb} {target}") if self._limit else None):
                response = self._pool.request(
                    method,
                    url,
                    body=as_json_and_yaml(body) if body is not None else None,
                    headers=headers,
                    timeout=self._timeout_now(),
                    retries=False if self._limit is not None else retries(check),
                    redirect=False,
                )
        except urllib3.exceptions.HTTPError as error:
            raise self._unanswered(verb, target, error) from error
        self._clock.observe(response.headers.get("Date"))
        document = json_object(response.data)
        if response.status == 404 and missing_ok and document is not None:
            return {}
        if response.status >= 300:
            shown = {"message": text_of(response.data)} if document is None else document
            raise api_error(verb, target, response.status, shown)
        if document is None:
            # A proxy or a login page in between; what became of a write is not known.
            raise ClusterUnavailable(
                f"the answer to {verb} {target} is not from an API server: {text_of(response.data)}"
            )
        if create and response.status == 200:
            made = "somebody has created it since the live state was read: apply again"
            raise Conflict(verb, target, 409, "AlreadyExists", made)
        return document

    def _timeout_now(self) -> Timeout:
        if self._limit is None:
            return self._timeout
        return Timeout(
            connect=CONNECT_SECONDS, read=self._request_timeout, total=self._limit.rest or 0.001
        )

    def _headers(self) -> dict[str, str]:
        return {
            "Accept": "application/json",
            "User-Agent": f"campaigns/{__version__}",
            **self._authorization(),
        }

    def _unanswered(
        self, verb: str, target: str, error: urllib3.exceptions.HTTPError
    ) -> ClusterUnavailable:
        server = self._configuration.host
        return ClusterUnavailable(
            f"no answer from the API server {server} to {verb} {target}: {cause_of(error)}"
        )

    def _authorization(self) -> dict[str, str]:
        # Asked for on every request: exec plugins and projected tokens renew behind this call.
        try:
            auth = self._configuration.auth_settings().get("BearerToken")
        except (ConfigException, OSError) as error:
            raise NoCredentials(
                f"the credentials for the API server cannot be renewed: {one_line(error)}"
            ) from error
        if not auth:
            return {}
        value = str(auth["value"]).strip()
        if not (value.isascii() and value.isprintable()):
            # Said without the token, which the HTTP library would quote.
            raise NoCredentials(
                "the token for the API server has characters that cannot be sent: write it anew"
            )
        return {"Authorization": value}


def _selectors(selector: str, fields: str) -> dict[str, str]:
    chosen = {"labelSelector": selector, "fieldSelector": fields}
    return {key: value for key, value in chosen.items() if value}
