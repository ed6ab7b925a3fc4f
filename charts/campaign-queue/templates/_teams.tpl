{{- /*
The teams as a YAML list of namespace, queue and stopPolicy, the release's own first. They share the
ClusterQueue; each has a LocalQueue and identities of its own.
*/}}
{{- define "campaign-queue.teams" -}}
{{- $queue := include "campaign-queue.queueName" . -}}
{{- $namespaces := list .Release.Namespace -}}
- namespace: {{ .Release.Namespace | quote }}
  queue: {{ $queue | quote }}
  stopPolicy: "None"
{{- range .Values.teams }}
{{- if has .namespace $namespaces }}
{{- fail (printf "teams: namespace %q is there twice (the release's own is a team without being listed); name each once" .namespace) }}
{{- end }}
{{- $namespaces = append $namespaces .namespace }}
- namespace: {{ .namespace | quote }}
  queue: {{ .queue | default $queue | quote }}
  stopPolicy: {{ .stopPolicy | default "None" | quote }}
{{- end }}
{{- end }}
