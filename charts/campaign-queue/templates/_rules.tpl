{{- /*
What each identity may do in the release's namespace. A comment names the command that needs a rule.
Server-side apply needs both create and patch: the API server asks for create when there is no object.
*/}}
{{- define "campaign-queue.rules.apply" -}}
# apply: start, hand over the pause and prune Jobs; status and apply --wait: progress
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch, create, patch, delete]
# apply: the volumes, the recipes and the records of what has finished
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch, create, patch, delete]
# apply: pause and resume, by a patch of spec.active; deleted is one that Kueue has given up, since
# Kueue then makes a new one
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [get, list, watch, patch, delete]
# apply: one at a time. A create cannot be limited to a name.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [campaigns-apply]
  verbs: [get, update]
{{ include "campaign-queue.rules.both" . }}
{{- end }}

{{- define "campaign-queue.rules.viewer" -}}
# status, explain: progress, and why a volume failed
- apiGroups: [batch]
  resources: [jobs]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch]
# explain: why a pod was not created, or cannot mount a volume
- apiGroups: [""]
  resources: [events]
  verbs: [get, list, watch]
# status: the volumes and the records of what has finished
- apiGroups: [""]
  resources: [configmaps]
  verbs: [get, list, watch]
# explain: the conditions that Kueue sets
- apiGroups: [kueue.x-k8s.io]
  resources: [workloads]
  verbs: [get, list, watch]
# status: the place in the queue
- apiGroups: [visibility.kueue.x-k8s.io]
  resources: [localqueues/pendingworkloads]
  resourceNames: [{{ include "campaign-queue.queueName" . | quote }}]
  verbs: [get]
{{ include "campaign-queue.rules.both" . }}
{{- end }}

{{- define "campaign-queue.rules.both" -}}
# the way from a campaign to its ClusterQueue
- apiGroups: [kueue.x-k8s.io]
  resources: [localqueues]
  resourceNames: [{{ include "campaign-queue.queueName" . | quote }}]
  verbs: [get]
# doctor: whether the namespace is there, and its Pod Security level
- apiGroups: [""]
  resources: [namespaces]
  resourceNames: [{{ .Release.Namespace | quote }}]
  verbs: [get]
{{- end }}

{{- /*
What both identities may read of the cluster: this release's queue objects, each by its name. A rule
with an empty resourceNames would allow every object, so there is none without priority classes.
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
