"""An API server with one Lease, which keeps resourceVersions as a real one does."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from unit.cluster.api_server import Answer, Object, Request, failure

from converter.names import LEASE_NAME


@dataclass
class LeaseStore:
    """`lose` answers to writes are lost after the write was done; `broken` ones are refused."""

    lease: Object | None = None
    lose: int = 0
    broken: int = 0
    others: list[Request] = field(default_factory=list)
    _version: int = 10

    def __call__(self, request: Request) -> Answer:
        if "/leases" not in request.path:
            self.others.append(request)
            return Answer(200, {"metadata": {}})
        if request.method == "GET":
            return failure(404, "NotFound") if self.lease is None else Answer(200, self.lease)
        if self.broken:
            self.broken -= 1
            return failure(403, "Forbidden")
        answer = self._write(request)
        if self.lose and answer.status == 200:
            self.lose -= 1
            return Answer(lost=True)
        return answer

    def take_over(self, holder: str, moment: datetime) -> None:
        """What another run writes."""
        self._version += 1
        self.lease = held_by(holder, moment, str(self._version))

    @property
    def spec(self) -> dict[str, Any]:
        assert self.lease is not None
        return dict(self.lease["spec"])

    def _write(self, request: Request) -> Answer:
        if request.method == "POST" and self.lease is not None:
            return failure(409, "AlreadyExists")
        if request.method == "PUT":
            if self.lease is None:
                return failure(404, "NotFound")
            sent = request.body["metadata"].get("resourceVersion")
            if sent != self.lease["metadata"]["resourceVersion"]:
                return failure(409, "Conflict")
        self._version += 1
        metadata = {**request.body["metadata"], "resourceVersion": str(self._version)}
        self.lease = {**request.body, "metadata": metadata}
        return Answer(200, self.lease)


def held_by(holder: str, renewed: datetime, version: str = "1") -> Object:
    stamp = renewed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    return {
        "metadata": {"name": LEASE_NAME, "namespace": "n", "resourceVersion": version},
        "spec": {
            "holderIdentity": holder,
            "acquireTime": stamp,
            "renewTime": stamp,
            "leaseDurationSeconds": 300,
            "leaseTransitions": 4,
        },
    }
