"""`make demo`: from nothing to finished campaigns on a real cluster, and what to try next.

Works on a copy of campaigns/demo with a git history of its own, in .demo/, as the apply identity
that the chart makes. Runs again on the same cluster: what has finished stays finished, and each run
adds one campaign, `encore-<N>`, to pause and resume.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcluster import Cluster, ClusterError, Progress, Spec, current
from localcluster.build import build
from localcluster.instance import load
from localcluster.kind import KindCluster
from localcluster.kubectl import Kubectl
from localcluster.tenant import Tenant
from ruamel.yaml import YAML

CHECKOUT = Path(__file__).parents[1]
SAMPLE = CHECKOUT / "campaigns" / "demo"
DIRECTORY = CHECKOUT / ".demo"
REPOSITORY = DIRECTORY / "repository"
KUBECONFIG = DIRECTORY / "kubeconfig"
NAMESPACE = "campaigns-demo"
CAMPAIGNS = Path(sys.executable).parent / "campaigns"

LOCAL_IMAGE = "gitops-campaigns.local/busybox:stable"
PUBLIC_IMAGE = "docker.io/library/busybox:1.37"

ENCORE = """\
# One page at a time, so that there is a middle in which to pause.
pipeline: word-count
window: 1
volumes:
  - {id: NAME-a, source: page-01}
  - {id: NAME-b, source: page-02}
  - {id: NAME-c, source: page-03}
"""
SECONDS = 240.0


@dataclass(frozen=True)
class Shown:
    """What the demo runs, it shows: the command, then its output."""

    environment: dict[str, str]

    def run(self, *command: str, allowed: Sequence[int] = (0,)) -> None:
        """A command of the demo's, in its repository; another exit code than allowed ends it."""
        print(f"\n$ {shlex.join(command)}", flush=True)
        program = str(CAMPAIGNS) if command[0] == "campaigns" else command[0]
        done = subprocess.run(
            [program, *command[1:]], cwd=REPOSITORY, env=self.environment, check=False
        )
        if done.returncode not in allowed:
            raise ClusterError(f"{shlex.join(command)} ended with {done.returncode}")

    def git(self, *arguments: str) -> None:
        """A git command, not worth showing."""
        subprocess.run(
            ["git", "-c", "user.name=demo", "-c", "user.email=demo@example.invalid", *arguments],
            cwd=REPOSITORY,
            check=True,
            capture_output=True,
        )

    def commit(self, message: str) -> None:
        """What a merge would be."""
        self.git("add", "--all")
        self.git("commit", "--message", message)


def heading(text: str) -> None:
    """Say what comes next."""
    print(f"\n=== {text}", flush=True)


def start_cluster(backend: str, instance: str) -> Tenant:
    """The cluster, started if it is ours, and the team's place on it."""
    progress = Progress()
    if backend == "current":
        progress.say(current.check())
        kubectl = Kubectl(_on_path("kubectl"), Path(current.kubeconfig().split(os.pathsep)[0]))
        return Tenant(kubectl, _on_path("helm"), NAMESPACE, NAMESPACE)
    if backend == "kind":
        kind = KindCluster(instance, progress)
        kind.up(Spec())
        return Tenant(
            Kubectl(_on_path("kubectl"), kind.kubeconfig), _on_path("helm"), NAMESPACE, NAMESPACE
        )
    cluster = Cluster(instance, progress)
    saved = load(instance)
    cluster.up(saved.spec if saved else Spec())
    helm = build(progress, "helm")["helm"].binary("helm")
    return Tenant(cluster.kubectl, helm, NAMESPACE, NAMESPACE)


def prepare(tenant: Tenant, backend: str) -> Shown:
    """The chart, the apply identity's kubeconfig and a repository with a history."""
    fresh = not tenant.exists
    tenant.install(YAML(typ="safe").load(SAMPLE / "queue-values.yaml"))
    if fresh or not REPOSITORY.exists():
        # A repository of an earlier cluster speaks of campaigns that this one has never run.
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        DIRECTORY.mkdir()
        shutil.copytree(SAMPLE, REPOSITORY)
    tenant.write_kubeconfig(KUBECONFIG)
    shown = Shown({**os.environ, "KUBECONFIG": str(KUBECONFIG)})
    if not (REPOSITORY / ".git").exists():
        if backend != "local":
            for pipeline in (REPOSITORY / "pipelines").iterdir():
                text = pipeline.read_text().replace(LOCAL_IMAGE, PUBLIC_IMAGE)
                pipeline.write_text(text)
        shown.git("init", "--initial-branch=main")
        shown.commit("The first campaigns")
    return shown


def job_status(tenant: Tenant, name: str) -> dict[str, Any]:
    """The status of a campaign's Job, as the cluster has it."""
    found = tenant.kubectl.run(
        "get", "job", name, f"--namespace={NAMESPACE}", "--ignore-not-found", "--output=json"
    )
    status: dict[str, Any] = json.loads(found).get("status", {}) if found else {}
    return status


def pods(tenant: Tenant, name: str) -> list[dict[str, Any]]:
    """The pods of a campaign."""
    found = tenant.kubectl.run(
        "get",
        "pods",
        f"--namespace={NAMESPACE}",
        f"--selector=batch.kubernetes.io/job-name={name}",
        "--output=json",
    )
    items: list[dict[str, Any]] = json.loads(found)["items"]
    return items


def attempts(tenant: Tenant, name: str) -> dict[int, list[int]]:
    """For each index of a campaign, the exit codes of its pods, in the order of the tries."""
    codes: dict[int, list[tuple[str, int]]] = {}
    for pod in pods(tenant, name):
        index = int(pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"])
        for container in pod["status"].get("containerStatuses", []):
            ended = container["state"].get("terminated")
            if ended:
                codes.setdefault(index, []).append((ended["finishedAt"], ended["exitCode"]))
    return {index: [code for _, code in sorted(found)] for index, found in codes.items()}


def show_logbook(tenant: Tenant) -> None:
    """What became of each page; raises ClusterError where it is not what the files say."""
    heading("What the pods of `logbook` did, as the cluster tells it")
    tries = attempts(tenant, "logbook")
    done = [index for index, codes in tries.items() if codes[-1] == 0]
    failed = [index for index, codes in tries.items() if codes == [13]]
    retried = [index for index in done if len(tries[index]) > 1]
    print(f"  {len(done)} of {len(tries)} volumes done, each by a pod of its own")
    for index in retried:
        print(f"  index {index} was tried again: its pods ended with {tries[index]}")
    for index in failed:
        print(f"  index {index} ended with exit 13 and was not tried again")
    example = next(pod for pod in pods(tenant, "logbook") if pod["status"]["phase"] == "Succeeded")
    name = example["metadata"]["name"]
    print(f"  kubectl logs {name}: {' '.join(tenant.logs(name).split())}")
    if (len(done), len(failed), len(retried)) != (11, 1, 1):
        raise ClusterError(f"logbook: unexpected exit codes by index: {tries}")


def wait_for(what: str, found: Callable[[], object]) -> None:
    """Wait until `found()` holds; raises ClusterError after `SECONDS`."""
    until = time.monotonic() + SECONDS
    while not found():
        if time.monotonic() > until:
            raise ClusterError(f"{what}: not within {SECONDS:.0f} s")
        time.sleep(0.3)


def _pods_left(status: dict[str, Any]) -> int:
    return int(status.get("active", 0)) + int(status.get("terminating", 0))


def pause_and_resume(tenant: Tenant, shown: Shown) -> None:
    """A campaign is started, paused by editing its file, and resumed."""
    numbers = [int(path.stem.partition("-")[2]) for path in REPOSITORY.glob("campaigns/encore-*")]
    name = f"encore-{max(numbers, default=0) + 1}"
    file = REPOSITORY / "campaigns" / f"{name}.yaml"
    heading(f"A new campaign, campaigns/{name}.yaml")
    text = ENCORE.replace("NAME", name)
    file.write_text(text)
    shown.commit(f"Start {name}")
    shown.run("campaigns", "apply", ".")
    wait_for(f"the first volume of {name}", lambda: job_status(tenant, name).get("succeeded"))

    heading(f"Pause: `suspend: true` in campaigns/{name}.yaml, commit, apply")
    file.write_text(text + "suspend: true\n")
    shown.commit(f"Pause {name}")
    shown.run("campaigns", "apply", ".")
    wait_for(f"no pod of {name} left", lambda: not _pods_left(job_status(tenant, name)))
    before = job_status(tenant, name).get("completedIndexes", "")
    shown.run("campaigns", "status", ".", name)

    heading("Resume: take the line out again, commit, apply; it goes on where it was")
    file.write_text(text)
    shown.commit(f"Resume {name}")
    shown.run("campaigns", "apply", ".")
    shown.run("campaigns", "status", ".", name, "--watch")
    after = job_status(tenant, name)
    print(f"  finished indexes before the resume: {before or 'none'}", end="")
    print(f"; at the end: {after.get('completedIndexes', 'none')}")
    if after.get("completedIndexes") != "0-2" or after.get("failed"):
        raise ClusterError(f"{name} did not finish as it should have: {after}")


def demo(backend: str, instance: str) -> None:
    """All of it."""
    began = time.monotonic()
    heading("The cluster")
    tenant = start_cluster(backend, instance)
    heading("charts/campaign-queue: a queue, its quota, and an identity that may apply")
    shown = prepare(tenant, backend)
    ready = time.monotonic()
    print(f"  release {NAMESPACE}, identity {NAMESPACE}-apply, repository {REPOSITORY}")

    heading("The campaigns")
    shown.run("campaigns", "validate", ".")
    shown.run("campaigns", "apply", ".")
    shown.run("campaigns", "status", ".", "--watch")
    show_logbook(tenant)
    pause_and_resume(tenant, shown)
    heading("All campaigns; what has ended is recorded, and never runs again")
    shown.run("campaigns", "apply", ".")
    shown.run("campaigns", "status", ".")
    campaigns_took = time.monotonic() - ready
    heading(f"Done: the cluster took {ready - began:.0f} s, the campaigns {campaigns_took:.0f} s")
    print(
        f"""
What to try next:
  export KUBECONFIG={KUBECONFIG} PATH={CAMPAIGNS.parent}:$PATH
  cd {REPOSITORY}
  # a mistake is named, and taken out again
  echo 'prority: 3' >> campaigns/recount.yaml; campaigns validate .; git checkout campaigns
  # start the campaign that was committed as paused
  sed -i '/^suspend/d' campaigns/recount.yaml && campaigns apply . && campaigns status . --watch
  # take a campaign out of git and off the cluster, its record included
  rm -f campaigns/checksums.yaml && campaigns apply . --prune
End the cluster with `make cluster-down`; `make demo` again goes on from here."""
    )


def _on_path(command: str) -> Path:
    found = shutil.which(command)
    if found is None:
        raise ClusterError(f"{command} is needed on the PATH")
    return Path(found)


def main() -> None:
    """Run the demo; a problem is one message and exit code 1."""
    try:
        demo(os.environ.get("CLUSTER", "local"), os.environ.get("INSTANCE", "dev"))
    except ClusterError as error:
        print(f"demo: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
