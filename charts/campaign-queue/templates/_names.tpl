{{- define "campaign-queue.queueName" -}}
{{ .Values.queue.name | default .Release.Name }}
{{- end }}

{{- define "campaign-queue.clusterQueueName" -}}
{{ .Values.queue.clusterQueueName | default (printf "%s-cq" (include "campaign-queue.queueName" .)) }}
{{- end }}

{{- /* The ServiceAccount of an identity; give (dict "root" $ "identity" "apply"). */}}
{{- define "campaign-queue.serviceAccountName" -}}
{{- $account := (index .root.Values .identity).serviceAccount -}}
{{- if $account.create -}}
{{ $account.name | default (printf "%s-%s" .root.Release.Name .identity) }}
{{- else -}}
{{ required (printf "%s.serviceAccount.name is empty; with create: false, name the ServiceAccount that exists" .identity) $account.name }}
{{- end }}
{{- end }}

{{- define "campaign-queue.modelCacheName" -}}
{{ .Values.modelCache.name | default (printf "%s-model-cache" .Release.Name) }}
{{- end }}

{{- define "campaign-queue.runtimeClassName" -}}
{{- $handler := required "runtimeClass.handler is empty; name the handler that the container runtime of the nodes has" .Values.runtimeClass.handler -}}
{{ .Values.runtimeClass.name | default $handler }}
{{- end }}

{{- define "campaign-queue.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: gitops-campaigns
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | quote }}
{{- end }}

{{- /* A quantity as a string. JSON writes a large number as digits, where YAML would give 8.5e+09. */}}
{{- define "campaign-queue.quantity" -}}
{{ . | toJson | trimAll "\"" | quote }}
{{- end }}
