{{- /*
What each identity of a team may do in its namespace; give the team. A comment names the commands
that need a rule. Server-side apply needs both create and patch: the API server asks for create when
there is no object.
*/}}
{{- define "campaign-queue.rules.apply" -}}
# apply, diff: start Jobs and hand over their pause. get: apply waits until a Job is gone that is
# made anew, diff reads again what changes meanwhile. delete: apply --prune. watch: apply --wait
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, patch, delete]
# apply, diff: the volumes, the recipes and the records of what has ended
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, patch, delete]
# apply: pause and resume, by a patch of spec.active; deleted is one that Kueue has given up, since
# Kueue then makes a new one
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [list, watch, patch, delete]
# apply: one at a time. A create cannot be limited to a name.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [campaigns-apply]
  verbs: [get, update]
{{ include "campaign-queue.rules.queue" . }}
{{ include "campaign-queue.rules.namespace" . }}
{{- end }}

{{- define "campaign-queue.rules.viewer" -}}
# status, explain, report: progress, and what has ended. watch: status --watch
- apiGroups: [batch]
  resources: [jobs]
  verbs: [list, watch]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [list, watch]
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [list, watch]
# status, explain, report: why a volume failed, and why a pod does not start
- apiGroups: [""]
  resources: [pods, events]
  verbs: [list]
# status, explain, report: the place in the queue
- apiGroups: [visibility.kueue.x-k8s.io]
  resources: [localqueues/pendingworkloads]
  resourceNames: [{{ .queue | quote }}]
  verbs: [get]
{{ include "campaign-queue.rules.queue" . }}
{{ include "campaign-queue.rules.namespace" . }}
{{- end }}

{{- define "campaign-queue.rules.holder" -}}
# hold, release: the Workload, by an update of the one that was read; holds: all of them
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [get, list, update]
# hold, release: the Jobs of a campaign, and whether git pauses one; holds: what each hold stops
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list]
# hold, release: the TrainJob that a Workload was made for
- apiGroups: [trainer.kubeflow.org]
  resources: [trainjobs]
  verbs: [get]
# hold, release: who held what, for kubectl describe
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end }}

{{- define "campaign-queue.rules.queue" -}}
# the way from a campaign to its ClusterQueue
- apiGroups: [kueue.x-k8s.io]
  resources: [localqueues]
  resourceNames: [{{ .queue | quote }}]
  verbs: [get]
{{- end }}

{{- define "campaign-queue.rules.namespace" -}}
# doctor: whether the namespace is there, and its Pod Security level
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: [{{ .namespace | quote }}]
  verbs: [get]
{{- end }}

{{- /*
What apply and viewer may read of the cluster: this release's queue objects, each by its name. A
rule with an empty resourceNames would allow every object, so there is none without priority classes.
*/}}
{{- define "campaign-queue.rules.cluster" -}}
- apiGroups: [kueue.x-k8s.io]
  resources: [clusterqueues]
  resourceNames: [{{ include "campaign-queue.clusterQueueName" . | quote }}]
  verbs: [get]
- apiGroups: [kueue.x-k8s.io]
  resources: [resourceflavors]
  resourceNames:
    {{- range include "campaign-queue.flavors" . | fromYamlArray }}
    - {{ .name | quote }}
    {{- end }}
  verbs: [get]
{{- with .Values.queue.priorityClasses }}
- apiGroups: [kueue.x-k8s.io]
  resources: [workloadpriorityclasses]
  resourceNames:
    {{- range . }}
    - {{ .name | quote }}
    {{- end }}
  verbs: [get]
{{- end }}
{{- end }}
