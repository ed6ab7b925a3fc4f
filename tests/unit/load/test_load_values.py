"""From files to the model: every key, and what stands in for a key that is not there."""

from pathlib import Path

from unit.load.repositories import CAMPAIGN, PIPELINE, lines, load

from converter.model import (
    Backend,
    Campaign,
    Flavor,
    Pipeline,
    Settings,
    Size,
    SlurmFlavor,
    SlurmPriority,
    SlurmSettings,
    SourceKind,
    Volume,
    Warmup,
)


def settings(root: Path, text: str) -> Settings:
    result = load(root, settings=text)
    assert lines(result) == []
    assert result.settings is not None
    return result.settings


def test_the_least_settings(tmp_path: Path) -> None:
    assert settings(tmp_path, "namespace: team\nqueue: q\n") == Settings("team", "q")


def test_without_a_queue_system_there_is_no_queue(tmp_path: Path) -> None:
    text = "namespace: team\nbackend: none\n"
    assert settings(tmp_path, text) == Settings("team", "", backend=Backend.NONE)


def test_the_least_settings_of_slurm(tmp_path: Path) -> None:
    text = "backend: slurm\nslurm: {directory: /shared/, container: []}\n"
    slurm = SlurmSettings("/shared", ())
    assert settings(tmp_path, text) == Settings("", "", backend=Backend.SLURM, slurm=slurm)


def test_all_settings_of_slurm(tmp_path: Path) -> None:
    text = """\
backend: slurm
namespace: team
priority_classes: [urgent, low]
slurm:
  host: me@login.example
  directory: /shared/campaigns
  container: [apptainer, exec, --cleanenv, "docker://{image}"]
  partition: gpu,long
  account: project1
  flavors:
    a100: {partition: gpu, constraint: "a100&[rack1|rack2]"}
    any: {constraint: x}
  priorities:
    urgent: {qos: high}
    low: {nice: 500}
  max_array_size: 4000001
  command_timeout: 60
"""
    assert settings(tmp_path, text).slurm == SlurmSettings(
        directory="/shared/campaigns",
        container=("apptainer", "exec", "--cleanenv", "docker://{image}"),
        host="me@login.example",
        partition="gpu,long",
        account="project1",
        flavors={
            "a100": SlurmFlavor("gpu", "a100&[rack1|rack2]"),
            "any": SlurmFlavor(constraint="x"),
        },
        priorities={"urgent": SlurmPriority("high"), "low": SlurmPriority(nice=500)},
        max_array_size=4_000_001,
        command_timeout=60,
    )


def test_all_settings(tmp_path: Path) -> None:
    text = """\
namespace: team
backend: koord-queue
queue: q
window: 5
priority_classes: [low, high.er]
sizes:
  small: {cpu: 500m, memory: 4Gi}
  large: {cpu: 2.0, memory: 17179869184, gpu: 2, workdir: 8Gi, flavor: a100}
  half: {cpu: 0.5, memory: 4e9, gpu: 0, flavor: null}
default_size: small
flavors:
  - name: a100
    nodeLabels: {example.org/gpu: a100}
    nodeTaints: [{key: gpu, value: a100, effect: NoSchedule}]
    quota: {cpu: 8, memory: 64Gi, nvidia.com/gpu: "4"}
quota: {cpu: 4, memory: 8Gi}
command: [run, --fast]
env: {A: "1", B: ""}
secrets: {token: /secrets/token}
data_pvc: models
runtime_class: nvidia
node_selector: {pool: batch}
tolerations:
  - {key: gpu, operator: Exists}
  - {key: spot, value: a, effect: NoExecute, tolerationSeconds: 30}
source_template: https://example.org/{ref}/manifest
allow_image_tags: true
max_seconds: 60
warmup_wait_seconds: 61
ttl_seconds_after_finished: 62
backoff_limit_per_index: 0
warmup: {command: [fetch], args: [all]}
prune_limit: 0
repository: git@example.org:team/campaigns
reactivate: never
apiserver_request_timeout: 5
s3_secret: s3
hf_token_secret: hf
results_url: https://example.org/results
manifest_max_bytes: 1
fetch_max_bytes: 5000000000
image_cache: {bucket: images}
"""
    text = text.replace("memory: 4e9", "memory: '4e9'")
    assert settings(tmp_path, text) == Settings(
        namespace="team",
        queue="q",
        backend=Backend.KOORD_QUEUE,
        window=5,
        priority_classes=("low", "high.er"),
        sizes={
            "small": Size("small", "500m", "4Gi"),
            "large": Size("large", "2", "17179869184", 2, "8Gi", "a100"),
            "half": Size("half", "0.5", "4e9", 0),
        },
        default_size="small",
        flavors=(
            Flavor(
                "a100",
                {"example.org/gpu": "a100"},
                ({"key": "gpu", "value": "a100", "effect": "NoSchedule"},),
                {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "4"},
            ),
        ),
        quota={"cpu": "4", "memory": "8Gi"},
        command=("run", "--fast"),
        env={"A": "1", "B": ""},
        secrets={"token": "/secrets/token"},
        data_pvc="models",
        runtime_class="nvidia",
        node_selector={"pool": "batch"},
        tolerations=(
            {"key": "gpu", "operator": "Exists"},
            {"key": "spot", "value": "a", "effect": "NoExecute", "tolerationSeconds": 30},
        ),
        source_template="https://example.org/{ref}/manifest",
        allow_image_tags=True,
        max_seconds=60,
        warmup_wait_seconds=61,
        ttl_seconds_after_finished=62,
        backoff_limit_per_index=0,
        warmup=Warmup(("fetch",), ("all",)),
        prune_limit=0,
        repository="git@example.org:team/campaigns",
        reactivate=False,
        apiserver_request_timeout=5,
        s3_secret="s3",  # noqa: S106
        hf_token_secret="hf",  # noqa: S106
        results_url="https://example.org/results",
        manifest_max_bytes=1,
        fetch_max_bytes=5_000_000_000,
        image_cache="images",
    )


def test_other_spellings_of_settings(tmp_path: Path) -> None:
    text = (
        "namespace: team\nqueue: ''\npublic_results_base: HTTP://a\nreactivate: always\n"
        "default_size: null\nimage_cache: ~\nsource_template: ''\n"
    )
    assert settings(tmp_path, text) == Settings("team", "", results_url="HTTP://a")


def test_a_campaign(tmp_path: Path) -> None:
    text = """\
pipeline: ocr
priority: ""
window: 4
min_window: 2
suspend: false
volumes:
  - A0001
  - "0012"
  - {id: a, source: "s3://bucket/a b"}
  - {id: b, manifest: https://example.org/b, env: {X: "1"}}
  - {id: c, images: [https://example.org/1, http://example.org/2]}
"""
    assert load(tmp_path, campaign=text).campaigns["spring"] == Campaign(
        name="spring",
        path="campaigns/spring.yaml",
        pipeline="ocr",
        volumes=(
            Volume("A0001", SourceKind.REFERENCE, "A0001"),
            Volume("0012", SourceKind.REFERENCE, "0012"),
            Volume("a", SourceKind.SOURCE, "s3://bucket/a b"),
            Volume("b", SourceKind.MANIFEST, "https://example.org/b", env={"X": "1"}),
            Volume("c", SourceKind.IMAGES, "", ("https://example.org/1", "http://example.org/2")),
        ),
        window=4,
        min_window=2,
    )


def test_pipelines(tmp_path: Path) -> None:
    assert load(tmp_path, pipeline=PIPELINE).pipelines["ocr"] == Pipeline(
        "ocr", "pipelines/ocr.yaml", "registry.example.org/ocr:1"
    )
    text = """\
image: a@sha256:b
command: [run]
args: []
env: {A: b}
size: small
max_seconds: 1
ttl_seconds_after_finished: 2
steps: text
warmup: {args: [x]}
"""
    assert load(tmp_path, pipeline=text).pipelines["ocr"] == Pipeline(
        id="ocr",
        path="pipelines/ocr.yaml",
        image="a@sha256:b",
        command=("run",),
        env={"A": "b"},
        size="small",
        max_seconds=1,
        ttl_seconds_after_finished=2,
        steps="text",
        warmup=Warmup((), ("x",)),
    )


def test_positions_of_a_valid_file(tmp_path: Path) -> None:
    text = "pipeline: ocr\nvolumes:\n  - a\n  - {id: b, source: é, env: &e {X: y}}\n"
    positions = load(tmp_path, campaign=text).positions["campaigns/spring.yaml"]
    assert positions.value() == (1, 1)
    assert positions.value("pipeline") == (1, 11)
    assert positions.key("pipeline") == (1, 1)
    assert positions.value("volumes", 0) == positions.key("volumes", 0) == (3, 5)
    assert positions.value("volumes", 1, "env", "X") == (4, 36)
    assert positions.key("volumes", 1, "env", "X") == (4, 33)
    # The nearest thing around what is not there.
    assert positions.value("volumes", 1, "manifest") == positions.key("volumes", 1, "x") == (4, 5)
    assert positions.value("volumes", 7, "id") == (3, 3)
    assert positions.value("window") == (1, 1)
    assert positions.value("pipeline", "x", 0) == (1, 11)


def test_the_campaign_of_the_other_tests_is_valid(tmp_path: Path) -> None:
    assert lines(load(tmp_path, campaign=CAMPAIGN, pipeline=PIPELINE)) == []
