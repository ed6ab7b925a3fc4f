"""Apply in real pods, from a git server that asks for a key: `cluster` is that of all tests.

One release and one repository for all of it: each run of a pod takes seconds.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

import pytest
from chart.clone_script import git
from chart.git_server import SshServer, by_ssh
from cluster.team import SLOW, Object, Team, condition, eventually
from localcluster import Cluster as LocalCluster
from localcluster.errors import ClusterError
from localcluster.image import Image
from localcluster.tenant import Tenant

from converter.names import APPLIED_BY_ANNOTATION, APPLIED_COMMITS_ANNOTATION, COMMIT_ANNOTATION

NAME = "in-cluster"
SECRET = "campaigns-git"  # noqa: S105 - the name of one
CONVERTER = "campaigns-converter"


class Cluster(Protocol):
    """The running cluster, as its administrator."""

    local: LocalCluster

    def tenant(self, name: str) -> Tenant: ...


@dataclass
class Site:
    """A team whose campaigns are applied by its CronJob, and the server of its repository."""

    team: Team
    server: SshServer
    runs: int = 0

    @property
    def cron_job(self) -> str:
        return f"{self.team.tenant.queue}-apply"

    def commit(self, message: str) -> str:
        """All that is in the repository now, as the server has it."""
        top = self.team.repo.parent
        git(top, "add", "--all")
        git(top, "commit", "--quiet", f"--message={message}")
        return git(top, "rev-parse", "HEAD")

    def start(self) -> str:
        """A run by hand, as the documents have it."""
        self.runs += 1
        name = f"{self.cron_job}-{self.runs}"
        self.team.kubectl("create", "job", name, f"--from=cronjob/{self.cron_job}")
        return name

    def end(self, job: str) -> str:
        """The log of a run that has ended, of all its containers."""
        eventually(lambda: self.team.ended(job), f"the end of {job}")
        log = self.team.kubectl("logs", f"job/{job}", "--all-containers", "--ignore-errors")
        # A service account's token is a JWT, and the key is in its own file.
        assert "eyJ" not in log
        for line in self.server.private_key.read_text().splitlines()[1:-1]:
            assert line not in log
        return log

    def failure(self, job: str) -> str:
        """Why a Job has failed."""
        assert condition(self.team.job(job), "Failed")
        conditions = self.team.job(job)["status"]["conditions"]
        return str(next(c["message"] for c in conditions if c["type"] == "Failed"))

    def write_secret(self, known_hosts: str) -> None:
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": SECRET, "namespace": self.team.namespace},
            "stringData": {
                "ssh-privatekey": self.server.private_key.read_text(),
                "known_hosts": known_hosts,
            },
        }
        self.team.cluster.kubectl.apply([secret])

    def write_converter(self) -> None:
        """The ConfigMap that the helm test compares the queue with."""
        config_map = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": CONVERTER, "namespace": self.team.namespace},
            "data": {"converter.yaml": (self.team.repo / "converter.yaml").read_text()},
        }
        self.team.cluster.kubectl.apply([config_map])

    def lease(self) -> Object:
        found = self.team.get("lease", "campaigns-apply")
        assert found is not None
        return found

    def hold_lease(self, holder: str) -> None:
        """As another apply would, which renews it just now; nobody where `holder` is empty."""
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec = {"spec": {"holderIdentity": holder, "renewTime": now}}
        patch = f"--patch={json.dumps(spec)}"
        self.team.kubectl("patch", "lease", "campaigns-apply", "--type=merge", patch)

    def helm_test(self) -> str:
        queue, namespace = self.team.tenant.queue, self.team.namespace
        return self.team.tenant.run_helm("test", queue, f"--namespace={namespace}", "--logs")


def values(image: Image, url: str) -> dict[str, Any]:
    """The chart's values. It is suspended, so that each run is one that a test starts."""
    return {
        "image": {"repository": image.repository, "digest": image.digest},
        "viewer": {"enabled": True},
        "apply": {
            "inCluster": {
                "enabled": True,
                "suspend": True,
                "repository": {"url": url, "path": "batch"},
                "sshSecret": SECRET,
            }
        },
        "tests": {"converterConfigMap": CONVERTER},
    }


@pytest.fixture(scope="module")
def site(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    home = tmp_path_factory.mktemp("in-cluster")
    repository = home / "repository"
    repository.mkdir()
    git(repository, "init", "--quiet", "--initial-branch=main")
    address = cluster.local.pod_reachable_address
    tenant = cluster.tenant(NAME)
    with by_ssh(repository / ".git", home / "sshd", address) as server:
        image = cluster.local.load_campaigns_image()
        tenant.install(values(image, server.url))
        team = Team(cluster.local, tenant, repository / "batch", home / "none")
        made = Site(team, server)
        quota = {"cpu": 4, "memory": "8Gi", "nvidia.com/gpu": 1}
        settings = {"namespace": NAME, "queue": NAME, "allow_image_tags": True, "quota": quota}
        small = {"cpu": "100m", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}
        team.write("converter.yaml", {**settings, "sizes": {"s": small}, "default_size": "s"})
        team.write_pipeline(script=SLOW)
        for name in ("maps", "letters", "names"):
            team.write_campaign(name)
        made.write_secret(server.known_hosts)
        made.write_converter()
        yield made
        tenant.remove()


def test_a_commit_pauses_one_campaign_and_removes_another(site: Site) -> None:
    """And has a mistake besides, which keeps nothing else from being done."""
    team = site.team
    first = site.commit("three campaigns")
    run = site.start()
    log = site.end(run)
    assert condition(team.job(run), "Complete"), log
    assert f"main of {site.server.url} is commit {first}" in log
    eventually(lambda: team.admitted("maps") and team.admitted("letters"), "they are admitted")

    team.write_campaign("maps", suspend=True)
    team.delete_campaign("letters")
    team.write_campaign("names", ["another"])
    second = site.commit("maps is paused, letters is removed, names is changed")
    run = site.start()
    assert "names" in site.end(run)
    assert site.failure(run).startswith("Container apply for pod ")
    assert "failed with exit code 3" in site.failure(run)
    workload = team.workload("maps")
    assert workload is not None
    assert workload["spec"]["active"] is False
    assert team.get("job", "letters") is None
    annotations = site.lease()["metadata"]["annotations"]
    name = f"{team.cluster.pod_reachable_address}/team/campaigns//batch"
    assert json.loads(annotations[APPLIED_COMMITS_ANNOTATION]) == {name: second}
    config_map = team.get("configmap", "campaign-maps")
    assert config_map is not None
    recorded = config_map["metadata"]["annotations"]
    assert recorded[COMMIT_ANNOTATION] == first
    assert recorded[APPLIED_BY_ANNOTATION] == f"cronjob/{site.cron_job}"


def test_a_run_beside_another_one_sends_nothing_and_says_who_it_is(site: Site) -> None:
    """Meanwhile the helm test compares the queue with what converter.yaml said at first."""
    site.hold_lease("somebody@ci/1")
    run = site.start()
    assert "is that of converter.yaml" in site.helm_test()
    assert "somebody@ci/1" in site.end(run)
    site.hold_lease("")
    assert site.failure(run).startswith("Container apply for pod ")
    assert "failed with exit code 1" in site.failure(run)


def test_another_host_key_is_refused(site: Site) -> None:
    """Meanwhile the helm test finds another quota in converter.yaml."""
    place, kind, _ = site.server.known_hosts.split()
    other = (site.server.directory / "client.pub").read_text().split()[1]
    site.write_secret(f"{place} {kind} {other}\n")
    run = site.start()
    settings = json.loads((site.team.repo / "converter.yaml").read_text())
    site.team.write("converter.yaml", {**settings, "quota": {**settings["quota"], "cpu": 5}})
    site.write_converter()
    with pytest.raises(ClusterError):
        site.helm_test()
    log = site.team.kubectl("logs", f"{NAME}-doctor")
    assert "in converter.yaml and on the cluster: cpu 5 and 4" in log
    refused = "clone: known_hosts of the Secret does not have the host key of this server"
    assert refused in site.end(run)
    assert site.failure(run).startswith("Container clone for pod ")
