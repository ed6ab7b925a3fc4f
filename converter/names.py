"""Every name that appears on a cluster or in a file, in one place.

Labels and annotations live in the domain ``gitops-campaigns.io``; Kueue's own names are spelt as
Kueue's API package ``constants`` spells them.
"""

import re
from typing import Final

DOMAIN: Final = "gitops-campaigns.io"

# Field managers of server-side apply. The second one exists for the suspend hand-off alone: it
# keeps ``spec.suspend: true`` alive while the first stops naming the field.
FIELD_MANAGER: Final = "campaigns"
HANDOFF_MANAGER: Final = "campaigns-suspend"
LEASE_NAME: Final = "campaigns-apply"

# Labels: what the reconciler selects by.
MANAGED_BY_LABEL: Final = f"{DOMAIN}/managed-by"
MANAGED_BY_VALUE: Final = "campaigns"
CAMPAIGN_LABEL: Final = f"{DOMAIN}/campaign"
PIPELINE_LABEL: Final = f"{DOMAIN}/pipeline"
ROLE_LABEL: Final = f"{DOMAIN}/role"

# Annotations: what the reconciler remembers.
SUSPEND_ANNOTATION: Final = f"{DOMAIN}/suspend"
REPOSITORY_ANNOTATION: Final = f"{DOMAIN}/repository"
INPUTS_ANNOTATION: Final = f"{DOMAIN}/inputs-sha256"
RECIPE_ANNOTATION: Final = f"{DOMAIN}/recipe-sha256"
WINDOW_ANNOTATION: Final = f"{DOMAIN}/window"
VOLUMES_ANNOTATION: Final = f"{DOMAIN}/volumes-sha256"
IMAGE_ANNOTATION: Final = f"{DOMAIN}/image"
JOB_UID_ANNOTATION: Final = f"{DOMAIN}/job-uid"
COMMIT_ANNOTATION: Final = f"{DOMAIN}/commit"
APPLIED_BY_ANNOTATION: Final = f"{DOMAIN}/applied-by"
APPLIED_AT_ANNOTATION: Final = f"{DOMAIN}/applied-at"
APPLIED_COMMITS_ANNOTATION: Final = f"{DOMAIN}/applied-commits"
HOLD_ANNOTATION: Final = f"{DOMAIN}/hold-instance"
HELD_BY_ANNOTATION: Final = f"{DOMAIN}/held-by"
HELD_AT_ANNOTATION: Final = f"{DOMAIN}/held-at"
HOLD_REASON_ANNOTATION: Final = f"{DOMAIN}/hold-reason"
# The Workload was inactive for another reason than git or a hold when the hold was placed.
WAS_INACTIVE_ANNOTATION: Final = f"{DOMAIN}/held-inactive"
# The last holds that were placed and released; no hold is in force for it.
HOLD_HISTORY_ANNOTATION: Final = f"{DOMAIN}/hold-history"
# Without a queue: whether a Job was let through its start gate, and how often it was started.
OPENED_ANNOTATION: Final = f"{DOMAIN}/opened"
STARTS_ANNOTATION: Final = f"{DOMAIN}/starts"
# Koord-Queue: when a Job was last changed for nothing but to have its controllers look at it.
NUDGED_ANNOTATION: Final = f"{DOMAIN}/nudged-at"
# Koord-Queue: git has paused it, and no apply has resumed it yet.
PAUSED_ANNOTATION: Final = f"{DOMAIN}/paused"
# When apply first saw that Koord-Queue had stopped a Job for its execution time; Koord-Queue itself
# writes another reason over that in the next moment.
BUDGET_SPENT_ANNOTATION: Final = f"{DOMAIN}/execution-time-spent"

# Other GitOps tools must not adopt a rendered object: they would run a reaped campaign again.
FOREIGN_TOOL_ANNOTATIONS: Final = {
    "argocd.argoproj.io/hook": "Skip",
    "kustomize.toolkit.fluxcd.io/reconcile": "disabled",
}

# Kueue (pkg/controller/constants in its source).
KUEUE_QUEUE_LABEL: Final = "kueue.x-k8s.io/queue-name"
KUEUE_PRIORITY_LABEL: Final = "kueue.x-k8s.io/priority-class"
KUEUE_JOB_UID_LABEL: Final = "kueue.x-k8s.io/job-uid"
KUEUE_MIN_PARALLELISM_ANNOTATION: Final = "kueue.x-k8s.io/job-min-parallelism"

KUEUE_MAX_EXECUTION_LABEL: Final = "kueue.x-k8s.io/max-exec-time-seconds"

# Koord-Queue (pkg/jobext/framework/activation.go and pkg/jobext/handles/job.go in its source). The
# quota label is Koordinator's; a queue of the same name belongs to each ElasticQuota.
KOORD_QUOTA_LABEL: Final = "quota.scheduling.koordinator.sh/name"
KOORD_ACTIVE_ANNOTATION: Final = "scheduling.x-k8s.io/active"
KOORD_PRIORITY_ANNOTATION: Final = "scheduling.x-k8s.io/priority"
KOORD_MAX_EXECUTION_ANNOTATION: Final = "scheduling.x-k8s.io/max-exec-time-seconds"

# Object names. One part of a campaign is one Job and one ConfigMap of volumes.
WARMUP_PREFIX: Final = "warmup-"
STATUS_SUFFIX: Final = "-status"
PART_SUFFIX: Final = re.compile(r"-part[0-9]+\Z")

MAX_LABEL: Final = 63
DNS_LABEL: Final = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?\Z")
DNS_SUBDOMAIN: Final = re.compile(
    r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\Z"
)

# An image as registries name it: the grammar of the package ``reference`` of distribution, which
# is OCI's for the part after the host.
_HOST: Final = r"[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?"
_PATH: Final = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_REPOSITORY: Final = rf"(?:{_HOST}(?:\.{_HOST})*(?::[0-9]+)?/)?{_PATH}(?:/{_PATH})*"
_TAG: Final = r":[A-Za-z0-9_][-A-Za-z0-9_.]{0,127}"
_DIGEST: Final = r"@sha256:[0-9a-f]{64}"
PINNED_IMAGE: Final = re.compile(rf"{_REPOSITORY}(?:{_TAG})?{_DIGEST}\Z")
TAGGED_IMAGE: Final = re.compile(rf"{_REPOSITORY}{_TAG}\Z")

# Names that the environment of no file may set: the first are given to every pod, the others are
# a shell's own, and some shells evaluate what is assigned to them as an expression.
RESERVED_ENV: Final = re.compile(
    r"(?:CAMPAIGN|PIPELINE_ID|PIPELINE_PATH|IMAGE_DIGEST|INDEX_FAILURE_COUNT"
    r"|BACKOFF_LIMIT_PER_INDEX|JOB_COMPLETION_INDEX|VOLUME_ID|VOLUME_REF|VOLUME_SOURCE"
    r"|IIIF_MANIFEST_URL|IMAGES|_campaigns_.*"
    r"|_|BASH.*|COMP_WORDBREAKS|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|EUID|FUNCNAME|GROUPS|HISTCMD"
    r"|IFS|LINENO|OLDPWD|OPTARG|OPTERR|OPTIND|PIPESTATUS|PPID|PS[124]|PWD|RANDOM|SECONDS"
    r"|SHELLOPTS|SHLVL|SRANDOM|UID)\Z"
)


def pipeline_configmap(pipeline: str) -> str:
    """The ConfigMap that holds a pipeline's steps."""
    return f"pipeline-{pipeline}"


def warmup_job(pipeline: str) -> str:
    """The Job that fills the model cache for a pipeline."""
    return f"{WARMUP_PREFIX}{pipeline}"


def campaign_configmap(job: str) -> str:
    """The ConfigMap that holds the volumes of one campaign Job."""
    return f"campaign-{job}"


def status_configmap(job: str) -> str:
    """The ConfigMap that records how one campaign Job ended."""
    return f"campaign-{job}{STATUS_SUFFIX}"
