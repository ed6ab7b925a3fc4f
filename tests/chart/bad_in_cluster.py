"""What the chart refuses to run in the cluster, each with the sentence that it gives."""

from __future__ import annotations

from typing import Any

from chart.bad import Bad
from chart.helm import Values

HTTPS = "https://git.example.com/team/campaigns.git"
SSH = "git@git.example.com:team/campaigns.git"
IMAGE = {"repository": "registry.example.com/campaigns"}


def in_cluster(url: str = HTTPS, **settings: Any) -> Values:
    """Values with which the chart makes the CronJob; `repository` adds to the address."""
    repository = {"url": url, **settings.pop("repository", {})}
    chosen = {"enabled": True, "repository": repository, **settings}
    return {"image": IMAGE, "apply": {"inCluster": chosen}}


def unmatched(name: str, key: str, value: str, **settings: Any) -> Bad:
    """A value that the schema has no place for."""
    at = f"at '/apply/inCluster/{key}': "
    return Bad(name, in_cluster(**settings), f"{at}'{value}' does not match pattern")


def address(name: str, url: str) -> Bad:
    return unmatched(name, "repository/url", url, url=url)


def revision(name: str, value: str) -> Bad:
    return unmatched(name, "repository/revision", value, repository={"revision": value})


def path(name: str, value: str) -> Bad:
    return unmatched(name, "repository/path", value, repository={"path": value})


def argument(name: str, value: str) -> Bad:
    return unmatched(name, "arguments/0", value, arguments=[value])


def scheduled(field: str, value: str, schedule: str, numbers: str) -> Bad:
    return Bad(
        f"schedule with the {field} {value}",
        in_cluster(schedule=schedule),
        f'apply.inCluster.schedule: the {field} is "{value}" in "{schedule}"; write a number of '
        f"{numbers}, a range such as 1-5, * or */5",
    )


TOO_MUCH = (
    "apply.inCluster.resources: requests has {} of {}, and limits has {}; raise the limit, or "
    "lower the request"
)

REFUSED_BY_TEMPLATES = [
    scheduled("minute", "60", "60 * * * *", "0-59"),
    scheduled("minute", "*/0", "*/0 * * * *", "0-59"),
    scheduled("minute", "x", "0,x * * * *", "0-59"),
    scheduled("hour", "24", "0 24 * * *", "0-23"),
    scheduled("hour", "17-8", "0 17-8 * * *", "0-23"),
    scheduled("day", "0", "0 0 0 * *", "1-31"),
    scheduled("month", "13", "0 0 1 13 *", "1-12"),
    scheduled("weekday", "7", "0 0 * * 7", "0-6"),
    Bad(
        "request over its limit",
        in_cluster(resources={"requests": {"cpu": "1500m"}}),
        TOO_MUCH.format("1500m", "cpu", "1"),
    ),
    Bad(
        "request of the helm test over its limit",
        {
            "tests": {"converterConfigMap": "converter"},
            "viewer": {"enabled": True},
            "image": IMAGE,
            "apply": {"inCluster": {"resources": {"limits": {"memory": "100M"}}}},
        },
        TOO_MUCH.format("128Mi", "memory", "100M"),
    ),
    *(
        Bad(
            f"range of ports {ports}",
            {"network": {"enabled": True, "egress": [{"ports": [{**ports, "endPort": 70}]}]}},
            "network: endPort 70 ends a range, and its port is no number that is at most that; "
            "write port and endPort as numbers",
        )
        for ports in ({"port": 71}, {"port": "http"}, {})
    ),
    Bad(
        "runs in the cluster without an identity",
        {"image": IMAGE, "apply": {**in_cluster()["apply"], "enabled": False}},
        "apply.inCluster runs as the identity apply; set apply.enabled to true",
    ),
    Bad(
        "name of a release that leaves a CronJob none",
        in_cluster(),
        f"apply.inCluster: the CronJob {'r' * 47}-apply has a name of more than 52 characters, "
        "which Kubernetes refuses; install the release under a name of at most 46",
        release="r" * 47,
    ),
    Bad(
        "runs in the cluster without an image",
        {**in_cluster(), "image": {}},
        "image.repository is empty; name the image of the tool, which apply.inCluster runs",
    ),
    Bad(
        "runs in the cluster without a repository",
        in_cluster(""),
        "apply.inCluster.repository.url is empty; write the address of the campaigns repository",
    ),
    Bad(
        "https with a key",
        in_cluster(HTTPS, sshSecret="git"),
        f"apply.inCluster: {HTTPS} is not fetched by ssh; write httpSecret in place of sshSecret, "
        "or the ssh address",
    ),
    Bad(
        "ssh with a password",
        in_cluster(SSH, httpSecret="git"),
        f"apply.inCluster: {SSH} is fetched by ssh; write sshSecret in place of httpSecret, or the "
        "https address",
    ),
    Bad(
        "ssh without a key",
        in_cluster(SSH),
        f"apply.inCluster: {SSH} is fetched by ssh; name the Secret with ssh-privatekey and "
        "known_hosts in sshSecret",
    ),
    Bad(
        "ssh with an authority",
        in_cluster(SSH, sshSecret="git", caConfigMap="ca"),
        f"apply.inCluster: {SSH} is fetched by ssh, which knows a server by known_hosts; leave out "
        "caConfigMap",
    ),
    Bad(
        "helm test without an image",
        {"tests": {"converterConfigMap": "converter"}, "viewer": {"enabled": True}},
        "image.repository is empty; name the image of the tool, which the helm test runs",
    ),
    Bad(
        "helm test without its identity",
        {"tests": {"converterConfigMap": "converter"}, "image": IMAGE},
        "the helm test (tests.converterConfigMap) runs as the identity viewer; set viewer.enabled "
        "to true",
    ),
]

REFUSED_BY_SCHEMA = [
    address("address that is an option", "--upload-pack=touch"),
    address("host that is an option", "ssh://-oProxyCommand=touch/x"),
    address("host that is an option, as scp has it", "-oProxyCommand=touch:x"),
    address("user that is an option", "ssh://-oProxyCommand=touch@host/x"),
    address("path that is an option, as scp has it", "git@host:-x"),
    address("password in the address", "https://me:secret@git.example.com/x"),
    address("user in the address", "https://me@git.example.com/x"),
    address("unprotected", "http://git.example.com/x"),
    address("unprotected, of git", "git://git.example.com/x"),
    address("helper", "ext::sh -c touch"),
    address("file", "file:///etc"),
    address("file without a scheme", "/srv/git/x"),
    address("shell text", "https://git.example.com/$(touch)"),
    address("query", "https://git.example.com/x?token=secret"),
    revision("revision that is an option", "--detach"),
    revision("empty revision", ""),
    revision("revision with a space", "main other"),
    revision("revision of Kubernetes' own", "$(URL)"),
    revision("range of an older commit", "main~1"),
    Bad(
        "range",
        in_cluster(repository={"revision": "a..b"}),
        "at '/apply/inCluster/repository/revision': 'not' failed",
    ),
    path("path out of the repository", "../x"),
    path("path out of the repository, further on", "a/../../x"),
    path("path from the top", "/etc"),
    path("path that is an option", "-x"),
    argument("second repository", "other"),
    argument("option of one letter", "-v"),
    argument("two words", "--timeout 2h"),
    argument("shell text as an option", "--timeout=$(x)"),
    *(
        argument(f"option {option}", option)
        for option in (
            "--namespace=other",
            "--kubeconfig=/x",
            "--context=x",
            "--dry-run",
            "--code-quality=x",
            "--prnue",
            "--prune-limit",
            "--wait",
            "--timeout=2h",
            "--concurrency=33",
            "--pause-wait=0",
        )
    ),
    unmatched("schedule of four", "schedule", "* * * *", schedule="* * * *"),
    Bad(
        "no time",
        in_cluster(timeoutSeconds=5),
        "at '/apply/inCluster/timeoutSeconds': minimum: got 5, want 60",
    ),
    Bad(
        "tag as a part of the repository",
        {"image": {"repository": "registry.example.com/campaigns:1.0"}},
        "at '/image/repository': 'registry.example.com/campaigns:1.0' does not match pattern",
    ),
    Bad(
        "digest that is too short",
        {"image": {**IMAGE, "digest": "sha256:0"}},
        "at '/image/digest': 'sha256:0' does not match pattern",
    ),
    Bad(
        "unknown key of a toleration",
        in_cluster(tolerations=[{"key": "gpu", "efect": "NoSchedule"}]),
        "at '/apply/inCluster/tolerations/0': additional properties 'efect' not allowed",
    ),
]
