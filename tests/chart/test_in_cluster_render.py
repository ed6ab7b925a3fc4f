"""What runs in the cluster: the CronJob of apply and the pod of the helm test, by helm template."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from chart.bad_in_cluster import HTTPS, IMAGE, SSH, in_cluster
from chart.clone_script import SCRIPT
from chart.documents import compare_file
from chart.helm import CHART, Helm, Object, Values, of_kind

from converter.cli.apply import command

DOCUMENTS = CHART.parents[1] / "docs" / "in-cluster"
CREDENTIALS = {"ssh", "http", "ca"}
BY_SSH = in_cluster(SSH, sshSecret="git")
TESTED: Values = {
    "image": IMAGE,
    "viewer": {"enabled": True},
    "tests": {"converterConfigMap": "converter"},
}


def cron_job(helm: Helm, values: Values, namespace: str = "campaigns") -> Object:
    return of_kind(helm.template(values, namespace=namespace), "CronJob")["campaigns-apply"]


def pod_of(job: Object) -> dict[str, Any]:
    spec: dict[str, Any] = job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    return spec


def containers(pod: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in (*pod.get("initContainers", ()), *pod["containers"])}


def mounts(container: Mapping[str, Any]) -> set[str]:
    return {each["name"] for each in container["volumeMounts"]}


def environment(container: Mapping[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container["env"]}


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """What a container gets for an argument, by the rules of Kubernetes: $(NAME), and $$ for $."""

    def one(found: re.Match[str]) -> str:
        if found[0] == "$$":
            return "$"
        return variables.get(found[1], found[0])

    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)


def helm_test(helm: Helm, values: Values = TESTED) -> Object:
    return of_kind(helm.template(values, namespace="team"), "Pod")["campaigns-doctor"]


def test_nothing_runs_in_the_cluster_unless_asked_for(helm: Helm) -> None:
    asked = in_cluster()
    off = {**asked, "apply": {"inCluster": {**asked["apply"]["inCluster"], "enabled": False}}}
    for values in ({}, {"image": IMAGE, "viewer": {"enabled": True}}, off):
        assert not {"CronJob", "Pod"} & {o["kind"] for o in helm.template(values)}


@pytest.mark.parametrize("what", ["apply", "test"])
def test_pods_keep_to_restricted_and_write_to_no_image(what: str, helm: Helm) -> None:
    pod = pod_of(cron_job(helm, BY_SSH)) if what == "apply" else helm_test(helm)["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["restartPolicy"] == "Never"
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] > 0
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    for container in containers(pod).values():
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"].keys() == {"cpu", "memory"}
        assert environment(container)["HOME"] in {m["mountPath"] for m in container["volumeMounts"]}


def test_each_container_has_the_one_secret_that_it_needs(helm: Helm) -> None:
    found = containers(pod_of(cron_job(helm, BY_SSH)))
    assert {name: mounts(container) for name, container in found.items()} == {
        "clone": {"clone", "ssh"},
        "validate": {"clone", "tmp"},
        "apply": {"clone", "tmp", "token"},
    }
    for name in ("validate", "apply"):
        (clone,) = [m for m in found[name]["volumeMounts"] if m["name"] == "clone"]
        assert clone["readOnly"] is True


def test_the_token_is_where_every_client_looks_for_it(helm: Helm) -> None:
    pod = pod_of(cron_job(helm, BY_SSH))
    assert pod["serviceAccountName"] == "campaigns-apply"
    (mount,) = [m for m in containers(pod)["apply"]["volumeMounts"] if m["name"] == "token"]
    assert mount["mountPath"] == "/var/run/secrets/kubernetes.io/serviceaccount"
    (volume,) = [v for v in pod["volumes"] if v["name"] == "token"]
    assert [next(iter(source)) for source in volume["projected"]["sources"]] == [
        "serviceAccountToken",
        "configMap",
        "downwardAPI",
    ]


def test_no_value_is_a_part_of_the_script(helm: Helm) -> None:
    plain, other = (
        containers(pod_of(cron_job(helm, values, namespace)))["clone"]
        for values, namespace in (
            (BY_SSH, "campaigns"),
            (
                in_cluster(
                    "ssh://git@other.example.com:22/x",
                    sshSecret="other",
                    repository={"revision": "v1", "path": "batch"},
                ),
                "other",
            ),
        )
    )
    assert plain["command"] == other["command"] == ["/bin/sh", "-c"]
    assert plain["args"] == other["args"]
    (script,) = plain["args"]
    variables = {name: f"<{name}>" for name in (*environment(plain), "fail", "cat")}
    assert expanded(script, variables).rstrip() == SCRIPT.rstrip()


def test_where_the_clone_comes_from_and_what_is_applied(helm: Helm) -> None:
    repository = {"revision": "v1.2", "path": "teams/maps"}
    values = in_cluster(HTTPS, repository=repository, arguments=["--prune", "--prune-limit=9"])
    found = containers(pod_of(cron_job(helm, values, namespace="team")))
    clone = environment(found["clone"])
    assert (clone["URL"], clone["REVISION"]) == (HTTPS, "v1.2")
    assert found["validate"]["command"] == found["apply"]["command"] == ["campaigns"]
    place = f"{clone['DIRECTORY']}/teams/maps"
    assert found["validate"]["args"] == ["validate", place]
    assert found["apply"]["args"] == [
        *("apply", place, "--namespace=team"),
        *("--prune", "--prune-limit=9"),
    ]
    assert environment(found["apply"])["LOGNAME"] == "cronjob/campaigns-apply"


@pytest.mark.parametrize(
    ("settings", "secrets"),
    [
        ({"url": HTTPS}, {}),
        ({"url": HTTPS, "httpSecret": "a", "caConfigMap": "b"}, {"http": "a", "ca": "b"}),
        ({"url": SSH, "sshSecret": "c"}, {"ssh": "c"}),
        ({"url": "ssh://git@host:2222/x", "sshSecret": "c"}, {"ssh": "c"}),
    ],
    ids=["public", "https", "ssh", "ssh URL"],
)
def test_credentials(settings: dict[str, Any], secrets: dict[str, str], helm: Helm) -> None:
    pod = pod_of(cron_job(helm, in_cluster(**settings)))
    found = {
        volume["name"]: (volume.get("secret") or {}).get("secretName")
        or volume["configMap"]["name"]
        for volume in pod["volumes"]
        if volume["name"] in CREDENTIALS
    }
    assert found == secrets
    assert mounts(containers(pod)["clone"]) == {"clone", *secrets}


def test_runs_one_at_a_time_once_and_not_for_ever(helm: Helm) -> None:
    settings: dict[str, Any] = {"schedule": "7 * * * *", "suspend": True, "timeoutSeconds": 600}
    spec = cron_job(helm, in_cluster(**settings, history={"failed": 9}))["spec"]
    assert (spec["schedule"], spec["suspend"]) == ("7 * * * *", True)
    assert spec["concurrencyPolicy"] == "Forbid"
    assert spec["startingDeadlineSeconds"] == 240
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (1, 9)
    job = spec["jobTemplate"]["spec"]
    assert job["backoffLimit"] == 0
    # A pod that is ended by its own time keeps its log, one that its Job ends does not.
    assert job["activeDeadlineSeconds"] > job["template"]["spec"]["activeDeadlineSeconds"] == 600
    assert job["podFailurePolicy"]["rules"] == [
        {"action": "FailJob", "onExitCodes": {"operator": "NotIn", "values": [0]}}
    ]


def test_where_it_runs(helm: Helm) -> None:
    tolerations = [{"key": "infra", "operator": "Exists", "effect": "NoSchedule"}]
    values = in_cluster(nodeSelector={"infra": "yes"}, tolerations=tolerations)
    pod = pod_of(cron_job(helm, values))
    assert (pod["nodeSelector"], pod["tolerations"]) == ({"infra": "yes"}, tolerations)


@pytest.mark.parametrize(
    ("image", "reference"),
    [
        ({}, "registry.example.com/campaigns:0.1.0"),
        ({"tag": "edge"}, "registry.example.com/campaigns:edge"),
        (
            {"tag": "edge", "digest": f"sha256:{'0' * 64}"},
            f"registry.example.com/campaigns@sha256:{'0' * 64}",
        ),
    ],
    ids=["version", "tag", "digest"],
)
def test_image(image: dict[str, str], reference: str, helm: Helm) -> None:
    more = {**IMAGE, **image, "pullSecrets": ["registry"], "pullPolicy": "Always"}
    pod = pod_of(cron_job(helm, {**in_cluster(), "image": more}))
    assert pod["imagePullSecrets"] == [{"name": "registry"}]
    assert {(c["image"], c["imagePullPolicy"]) for c in containers(pod).values()} == {
        (reference, "Always")
    }


def test_the_longest_name_of_a_release(helm: Helm) -> None:
    assert of_kind(helm.template(in_cluster(), release="r" * 46), "CronJob").keys() == {
        f"{'r' * 46}-apply"
    }


def test_the_arguments_are_the_options_of_apply() -> None:
    """Without those that the CronJob gives itself, and what has no sense in it."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    pattern = schema["definitions"]["inCluster"]["properties"]["arguments"]["items"]["pattern"]
    known = set(re.findall(r"[a-z][-a-z]+(?==|[|)])", pattern)) - {"text", "json"}
    options = {name for each in command.params for name in each.opts if name.startswith("--")}
    left_out = {"namespace", "kubeconfig", "context", "dry-run", "code-quality", "help"}
    # One run waits for another, so that none may wait for campaigns.
    left_out |= {"wait", "timeout"}
    assert known == {name.removeprefix("--") for name in options} - left_out


def test_runs_as_a_service_account_that_exists(helm: Helm) -> None:
    values = in_cluster()
    values["apply"]["serviceAccount"] = {"create": False, "name": "ci"}
    assert pod_of(cron_job(helm, values))["serviceAccountName"] == "ci"


def test_the_helm_test_compares_the_queue_as_the_viewer(helm: Helm) -> None:
    pod = helm_test(helm)
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    assert pod["spec"]["serviceAccountName"] == "campaigns-viewer"
    (doctor,) = pod["spec"]["containers"]
    assert doctor["command"] == ["campaigns"]
    assert doctor["args"] == ["doctor", "/repository", "--for=view", "--only=queue", "--strict"]
    assert mounts(doctor) == {"repository", "tmp", "token"}
    (volume,) = [v for v in pod["spec"]["volumes"] if v["name"] == "repository"]
    assert volume["configMap"]["name"] == "converter"


def test_notes_say_how_to_run_and_to_test_it(helm: Helm) -> None:
    run = (
        "kubectl create job campaigns-apply-$(date +%s) --from=cronjob/campaigns-apply "
        "--namespace team"
    )
    test = "helm test campaigns --namespace team --logs"
    notes = helm.notes({**in_cluster(), **TESTED})
    assert run in notes
    assert test in notes
    assert "create token" not in notes
    assert "helm test" not in helm.notes()


class _Dumper(yaml.SafeDumper):
    """Texts of several lines as they are written."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def manifest(job: Object, lead: str, *, more: Mapping[str, Any], **metadata: Any) -> str:
    """The CronJob's Job as a manifest of its own, for what starts it in its stead."""
    template = job["spec"]["jobTemplate"]
    spec = {**more, **template["spec"]}
    for container in containers(spec["template"]["spec"]).values():
        for variable in container["env"]:
            if variable["name"] == "LOGNAME":
                variable["value"] = f"job/{metadata['name']}"
    del template["metadata"]["labels"]
    labels = spec["template"]["metadata"]["labels"]
    kept = {f"app.kubernetes.io/{key}" for key in ("name", "instance", "component")}
    spec["template"]["metadata"]["labels"] = {key: labels[key] for key in labels if key in kept}
    document = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"namespace": "campaigns", **metadata, **template["metadata"]},
        "spec": spec,
    }
    dumped = yaml.dump(document, Dumper=_Dumper, sort_keys=False, width=1000)
    return "".join(f"# {line}\n" for line in lead.splitlines()) + dumped


# One that the policies of the chart know pods of apply by.
NAME = "campaigns-apply-0"
ARGO_CD = """\
Argo CD runs this after each sync. It is the Job of the chart's CronJob: write your own image, URL,
revision, Secret and arguments."""
FLUX = """\
Flux makes this Job anew once it is gone, a minute after its end. It is the Job of the chart's
CronJob: write your own image, URL, revision, Secret and arguments."""


def test_the_manifest_for_argo_cd_is_the_job_of_the_chart(helm: Helm) -> None:
    annotations = {
        "argocd.argoproj.io/hook": "PostSync",
        "argocd.argoproj.io/hook-delete-policy": "BeforeHookCreation",
    }
    text = manifest(cron_job(helm, BY_SSH), ARGO_CD, more={}, name=NAME, annotations=annotations)
    compare_file(DOCUMENTS / "argo-cd-job.yaml", text)


def test_the_manifest_for_flux_is_the_job_of_the_chart(helm: Helm) -> None:
    more = {"ttlSecondsAfterFinished": 60}
    text = manifest(cron_job(helm, BY_SSH), FLUX, more=more, name=NAME)
    compare_file(DOCUMENTS / "flux-job.yaml", text)


def test_the_documents_name_what_there_is(helm: Helm) -> None:
    """The values in the example, and each value by its name."""
    text = (CHART.parents[1] / "docs" / "in-cluster.md").read_text()
    example = yaml.safe_load(text.partition("```yaml\n")[2].partition("```")[0])
    job = cron_job(helm, example)
    for name in re.findall(r"`apply\.inCluster\.([a-zA-Z.]+)`", text):
        at: Any = yaml.safe_load((CHART / "values.yaml").read_text())["apply"]["inCluster"]
        for key in name.split("."):
            at = at[key]
    assert set(containers(pod_of(job))) == {"clone", "validate", "apply"}
    others = [yaml.safe_load_all(block) for block in re.findall(r"```yaml\n(.*?)```", text, re.S)]
    kinds = {document.get("kind") for documents in others for document in documents}
    assert {"Application", "Kustomization", "GitRepository"} <= kinds


def test_example_paths_exist() -> None:
    assert sorted(path.name for path in Path(DOCUMENTS).iterdir()) == [
        "argo-cd-job.yaml",
        "flux-job.yaml",
    ]
