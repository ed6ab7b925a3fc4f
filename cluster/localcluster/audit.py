"""The API server's audit log, so that a test can count the requests that somebody made."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True)
class AuditEvent:
    """One stage of one request. `name` is empty for a LIST and where the server made it up.

    `code` is the HTTP status; `body` is there for the kinds whose requests the policy writes down.
    """

    id: str
    stage: str
    time: str
    verb: str
    uri: str
    user: str
    user_agent: str
    group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    body: Any

    @property
    def dry_run(self) -> bool:
        """Whether nothing was to be kept (`dryRun=All`)."""
        return "All" in self.query.get("dryRun", [])

    @property
    def query(self) -> dict[str, list[str]]:
        """The parameters in the URI, such as `fieldManager`."""
        return parse_qs(urlsplit(self.uri).query)

    @property
    def is_write(self) -> bool:
        """Whether the verb changes something, or would without dryRun."""
        return self.verb in ("create", "update", "patch", "delete", "deletecollection")


def parse_event(line: str) -> AuditEvent:
    """An event from its line of the log (audit.k8s.io/v1)."""
    event = json.loads(line)
    reference = event.get("objectRef", {})
    return AuditEvent(
        id=event["auditID"],
        stage=event["stage"],
        time=event["requestReceivedTimestamp"],
        verb=event["verb"],
        uri=event["requestURI"],
        user=event.get("user", {}).get("username", ""),
        user_agent=event.get("userAgent", ""),
        group=reference.get("apiGroup", ""),
        resource=reference.get("resource", ""),
        subresource=reference.get("subresource", ""),
        namespace=reference.get("namespace", ""),
        name=reference.get("name", ""),
        code=event.get("responseStatus", {}).get("code", 0),
        body=event.get("requestObject"),
    )


@dataclass(frozen=True)
class AuditLog:
    """The log of one instance."""

    path: Path

    def end(self) -> int:
        """The offset of what will be written next: a mark to read from later."""
        return self.path.stat().st_size if self.path.exists() else 0

    def events(
        self,
        since: int = 0,
        *,
        user_agent: str = "",
        user: str = "",
        verbs: Collection[str] = (),
        resource: str = "",
        subresource: str | None = None,
        namespace: str = "",
        dry_run: bool | None = None,
        code: int | None = None,
        stage: str = "ResponseComplete",
    ) -> list[AuditEvent]:
        """The events after the offset `since` that fit everything asked for.

        `user_agent` is how it begins. A watch has two stages, of which only the last is wanted by
        default. `subresource=""` takes requests to the object itself only.
        """
        return [
            event
            for event in self._read(since)
            if event.stage == stage
            and event.user_agent.startswith(user_agent)
            and user in ("", event.user)
            and (not verbs or event.verb in verbs)
            and resource in ("", event.resource)
            and subresource in (None, event.subresource)
            and namespace in ("", event.namespace)
            and dry_run in (None, event.dry_run)
            and code in (None, event.code)
        ]

    def _read(self, since: int) -> Iterator[AuditEvent]:
        with self.path.open("rb") as log:
            # The mark can lie in a line that was being written when it was set: the byte before it
            # tells, and the rest of that line is of an earlier event.
            log.seek(max(since - 1, 0))
            if since:
                log.readline()
            for line in log:
                # The last line can be one that is just being written.
                if line.endswith(b"\n"):
                    yield parse_event(line.decode())
