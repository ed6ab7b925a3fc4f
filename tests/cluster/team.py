"""A team as the tests play it: a repository, `campaigns` as the apply identity, and a look at what
came of it as the administrator.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcluster import AuditEvent, Cluster
from localcluster.tenant import Tenant

from converter.cluster.client import Client

IMAGE = "gitops-campaigns.local/busybox:stable"
SECONDS = 90.0

# A pod that stays until it is asked to go, and then goes at once.
SLOW = "trap 'exit 143' TERM; sleep 600 & wait"

Object = dict[str, Any]


def eventually(found: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
    """Wait until `found()` holds."""
    deadline = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < deadline, f"not in {seconds:.0f} s: {what}"
        time.sleep(0.2)


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        return self.stdout + self.stderr


@dataclass(frozen=True)
class Team:
    """A namespace of its own with a queue of its own."""

    cluster: Cluster
    tenant: Tenant
    repo: Path
    kubeconfig: Path

    @property
    def namespace(self) -> str:
        return self.tenant.namespace

    def write(self, path: str, document: Mapping[str, Any] | str) -> Path:
        """A file of the repository; JSON is YAML too."""
        file = self.repo / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(document if isinstance(document, str) else json.dumps(document, indent=1))
        return file

    def write_settings(self, **settings: Any) -> None:
        """converter.yaml, with small pods."""
        defaults = {
            "namespace": self.namespace,
            "queue": self.tenant.queue,
            "repository": "tests",
            "allow_image_tags": True,
            "sizes": {"s": {"cpu": "100m", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}},
            "default_size": "s",
        }
        self.write("converter.yaml", {**defaults, **settings})

    def write_pipeline(self, name: str = "work", script: str = "true", **keys: Any) -> None:
        """A pipeline that runs a shell script for each volume."""
        command = ["/bin/sh", "-euc", script]
        document = {"image": IMAGE, "command": command, "max_seconds": 300, **keys}
        self.write(f"pipelines/{name}.yaml", document)

    def write_campaign(
        self, name: str, volumes: int | Sequence[object] = 1, pipeline: str = "work", **keys: Any
    ) -> None:
        """A campaign of so many volumes of its own, or of those given."""
        listed = [f"{name}-{n}" for n in range(volumes)] if isinstance(volumes, int) else volumes
        document = {"pipeline": pipeline, "volumes": list(listed), **keys}
        self.write(f"campaigns/{name}.yaml", document)

    def delete_campaign(self, name: str) -> None:
        (self.repo / "campaigns" / f"{name}.yaml").unlink()

    def create_local_queue(self, name: str) -> None:
        """One more LocalQueue of the team's ClusterQueue."""
        queue = {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "LocalQueue",
            "metadata": {"name": name, "namespace": self.namespace},
            "spec": {"clusterQueue": f"{self.tenant.queue}-cq"},
        }
        self.cluster.kubectl.apply([queue])

    def run(self, *arguments: str, kubeconfig: Path | None = None) -> Done:
        """The command, as the apply identity."""
        with self.start(*arguments, kubeconfig=kubeconfig) as process:
            stdout, stderr = process.communicate()
        done = Done(process.returncode, stdout, stderr)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def start(
        self,
        *arguments: str,
        kubeconfig: Path | None = None,
        before: Callable[[], object] | None = None,
    ) -> subprocess.Popen[str]:
        """The command, going on by itself, as the apply identity.

        `before` is called in the new process.
        """
        return subprocess.Popen(
            [sys.executable, "-m", "converter", *arguments],
            cwd=self.repo,
            env=self._environment(kubeconfig),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=before,
        )

    def _environment(self, kubeconfig: Path | None) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.repo.parent),
            "KUBECONFIG": str(kubeconfig or self.kubeconfig),
        }

    def apply(self, *options: str, code: int = 0) -> Done:
        """`campaigns apply`, which has to end with this exit code."""
        done = self.run("apply", ".", *options)
        assert done.code == code, done.text
        return done

    def status(self) -> dict[str, Object]:
        """`campaigns status`, by campaign."""
        done = self.run("status", ".", "--format=json")
        assert done.code == 0, done.text
        return {found["name"]: found for found in json.loads(done.stdout)["campaigns"]}

    def client(self) -> Client:
        """The product's own client, as the apply identity."""
        return Client.from_kubeconfig(kubeconfig=self.kubeconfig, context=None)

    def kubectl(self, *arguments: str) -> str:
        """kubectl in this namespace, as the administrator."""
        return self.cluster.kubectl.run(f"--namespace={self.namespace}", *arguments)

    def get(self, kind: str, name: str) -> Object | None:
        found = self.kubectl("get", kind, name, "--ignore-not-found", "--output=json")
        value: Object | None = json.loads(found) if found else None
        return value

    def objects(self, kind: str, selector: str = "") -> list[Object]:
        found = self.kubectl("get", kind, f"--selector={selector}", "--output=json")
        items: list[Object] = json.loads(found)["items"]
        return items

    def job(self, name: str) -> Object:
        found = self.get("job", name)
        assert found is not None, f"there is no Job {name}"
        return found

    def job_status(self, name: str) -> Object:
        status: Object = self.job(name).get("status", {})
        return status

    def pods(self, job: str) -> list[Object]:
        return self.objects("pods", f"batch.kubernetes.io/job-name={job}")

    def workload(self, job: str) -> Object | None:
        """The Workload that Kueue made for a Job."""
        uid = self.job(job)["metadata"]["uid"]
        found = self.objects("workloads", f"kueue.x-k8s.io/job-uid={uid}")
        assert len(found) < 2
        return found[0] if found else None

    def admitted(self, job: str) -> bool:
        return condition(self.workload(job), "Admitted")

    def ended(self, *jobs: str) -> bool:
        return all(
            condition(self.job(j), "Complete") or condition(self.job(j), "Failed") for j in jobs
        )

    def requests(self, since: int, **criteria: Any) -> list[AuditEvent]:
        """What the product asked of the API server after a mark."""
        return self.cluster.audit_log.events(
            since, user_agent="campaigns/", user=self.user, **criteria
        )

    @property
    def user(self) -> str:
        return f"system:serviceaccount:{self.namespace}:{self.tenant.queue}-apply"

    def pods_created(self, since: int, job: str = "") -> list[str]:
        """The names of the pods that were created after a mark, every one of them.

        From the audit log, which misses none, however short it lived.
        """
        self.cluster.audit_mark()
        created = self.cluster.audit_log.events(
            since, verbs=("create",), resource="pods", subresource="", namespace=self.namespace
        )
        names = [_pod_name(event) for event in created if event.code == 201]
        return [name for name in names if name.startswith(job)]


def condition(found: Object | None, kind: str) -> bool:
    """Whether an object has this condition, true."""
    conditions = (found or {}).get("status", {}).get("conditions", [])
    return any(c["type"] == kind and c["status"] == "True" for c in conditions)


def _pod_name(event: AuditEvent) -> str:
    metadata = (event.body or {}).get("metadata", {})
    return str(event.name or metadata.get("name") or metadata.get("generateName", ""))
