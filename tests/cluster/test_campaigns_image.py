"""The campaigns command in a pod: the image of the Containerfile, and the pod's own credentials."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

from cluster.team import Team, eventually

import converter

if TYPE_CHECKING:
    from conftest import TeamFactory

POD = "campaigns"
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "readOnlyRootFilesystem": True,
}
FETCH = """
import sys, urllib.request
sys.stdout.write(urllib.request.urlopen(sys.argv[1]).read().decode())
"""
OF_THIS_MACHINE = "from a server of this machine"


class Answer(BaseHTTPRequestHandler):
    """Stands for a git server that pods fetch from."""

    def do_GET(self) -> None:
        body = OF_THIS_MACHINE.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def container(name: str, image: str, *command: str) -> dict[str, Any]:
    """A container with a read-only root and a home to write into."""
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        **({"command": list(command)} if command else {}),
        "securityContext": RESTRICTED,
        "env": [{"name": "HOME", "value": "/home/campaigns"}],
        "volumeMounts": [
            {"name": "home", "mountPath": "/home/campaigns"},
            {"name": "repository", "mountPath": "/repository"},
        ],
    }


def pod(team: Team, image: str, url: str) -> dict[str, Any]:
    """One container for each thing that the image has to be able to do."""
    versions = container("version", image)
    versions["args"] = ["--version"]
    asks = ("campaigns", "doctor", "/repository", "--format=json")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": POD, "namespace": team.namespace},
        "spec": {
            "restartPolicy": "Never",
            "serviceAccountName": f"{team.tenant.queue}-apply",
            "automountServiceAccountToken": True,
            "securityContext": {
                "runAsNonRoot": True,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
            "nodeSelector": {"kubernetes.io/hostname": "real-1"},
            "containers": [
                versions,
                container("doctor", image, *asks),
                container("git", image, "git", "--version"),
                container("ssh", image, "ssh", "-V"),
                container("user", image, "id"),
                container("fetch", image, "/opt/campaigns/bin/python", "-c", FETCH, url),
            ],
            "volumes": [
                {"name": "home", "emptyDir": {}},
                {"name": "repository", "configMap": {"name": "repository"}},
            ],
        },
    }


def log(team: Team, name: str) -> str:
    return team.kubectl("logs", POD, f"--container={name}")


def ended(team: Team) -> bool:
    found = team.get("pod", POD)
    return found is not None and found["status"]["phase"] in ("Succeeded", "Failed")


def test_a_pod_of_the_image_asks_the_api_server_as_its_service_account(
    new_team: TeamFactory,
) -> None:
    team = new_team()
    image = team.cluster.load_campaigns_image()
    settings = (team.repo / "converter.yaml").read_text()
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "repository", "namespace": team.namespace},
        "data": {"converter.yaml": settings},
    }
    with ThreadingHTTPServer((team.cluster.pod_reachable_address, 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = "http://{}:{}/".format(*server.server_address)
        team.cluster.kubectl.apply([config_map, pod(team, image.by_digest, url)])
        eventually(lambda: ended(team), "the end of the pod")
        server.shutdown()
    # The entry point is the command.
    assert log(team, "version").split()[-1] == converter.__version__
    assert log(team, "git").startswith("git version ")
    assert log(team, "ssh").startswith("OpenSSH_")
    assert (
        log(team, "user").strip()
        == "uid=1000(campaigns) gid=1000(campaigns) groups=1000(campaigns)"
    )
    assert log(team, "fetch") == OF_THIS_MACHINE
    findings = json.loads(log(team, "doctor"))["findings"]
    assert ("queue", "ok") in {(each["check"], each["status"]) for each in findings}
