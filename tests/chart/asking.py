"""Requests to the API server in the name of any user, none of which changes anything."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from chart.helm import Object
from kubernetes import config

MERGE = "application/merge-patch+json"
# Names the containers of a pod that it changes, and no others.
STRATEGIC = "application/strategic-merge-patch+json"
PATHS = {
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "CronJob": "/apis/batch/v1/namespaces/{}/cronjobs",
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Pod": "/api/v1/namespaces/{}/pods",
}


@dataclass(frozen=True)
class Request:
    """What somebody asks for. `below` is a subresource; without a user, the administrator asks."""

    user: str
    method: str
    kind: str
    namespace: str
    name: str = ""
    body: Object | None = None
    below: str = ""
    group: str = ""

    @property
    def path(self) -> str:
        parts = (PATHS[self.kind].format(self.namespace), self.name, self.below)
        return "/".join(part for part in parts if part)


def create(user: str, body: Object) -> Request:
    """A new object, in its own namespace."""
    return Request(user, "POST", body["kind"], body["metadata"]["namespace"], body=body)


class Asking:
    """The API server; whoever asks, the connection is the administrator's, who may impersonate."""

    def __init__(self, kubeconfig: Path) -> None:
        self._api: Any = config.new_client_from_config(str(kubeconfig))

    def refusal(self, request: Request) -> str:
        """Why a request is refused, from a dry run; empty where it is not."""
        patch = STRATEGIC if request.kind == "Pod" else MERGE
        kind = patch if request.method == "PATCH" else "application/json"
        headers = {"Content-Type": kind}
        if request.user:
            headers["Impersonate-User"] = request.user
        if request.group:
            headers["Impersonate-Group"] = request.group
        answer = self._send(request.method, f"{request.path}?dryRun=All", headers, request.body)
        return str(answer["message"]) if answer.get("status") == "Failure" else ""

    def create(self, body: Object) -> Object:
        """A new object for real, by the administrator."""
        request = create("", body)
        answer = self._send("POST", request.path, {"Content-Type": "application/json"}, body)
        assert answer.get("status") != "Failure", answer
        return answer

    def get(self, path: str) -> Object:
        """What is at a path, as the administrator sees it."""
        return self._send("GET", path, {}, None)

    def _send(self, method: str, path: str, headers: dict[str, str], body: Object | None) -> Object:
        answer = self._api.rest_client.pool_manager.request(
            method,
            self._api.configuration.host + path,
            headers=headers,
            body=json.dumps(body) if body is not None else None,
        )
        value: Object = json.loads(answer.data)
        return value
