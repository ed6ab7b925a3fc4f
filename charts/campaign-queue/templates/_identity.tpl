{{- /* All objects of one identity of a team; give (dict "root" $ "identity" "apply" "team" .). */}}
{{- define "campaign-queue.identity" -}}
{{- $settings := index .root.Values .identity -}}
{{- $account := include "campaign-queue.serviceAccountName" . -}}
{{- $namespace := .team.namespace -}}
{{- $labels := include "campaign-queue.identityLabels" . -}}
{{- if $settings.serviceAccount.create }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ $account | quote }}
  namespace: {{ $namespace | quote }}
  labels: {{- $labels | nindent 4 }}
  {{- with $settings.serviceAccount.annotations }}
  annotations: {{- toYaml . | nindent 4 }}
  {{- end }}
automountServiceAccountToken: false
{{- end }}
{{- if $settings.tokenSecret.create }}
---
apiVersion: v1
kind: Secret
metadata:
  name: {{ printf "%s-token" $account | quote }}
  namespace: {{ $namespace | quote }}
  labels: {{- $labels | nindent 4 }}
  annotations:
    kubernetes.io/service-account.name: {{ $account | quote }}
type: kubernetes.io/service-account-token
{{- end }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ $account | quote }}
  namespace: {{ $namespace | quote }}
  labels: {{- $labels | nindent 4 }}
rules: {{- include (printf "campaign-queue.rules.%s" .identity) .team | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ $account | quote }}
  namespace: {{ $namespace | quote }}
  labels: {{- $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ $account | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ $account | quote }}
    namespace: {{ $namespace | quote }}
{{- /* Who holds asks nothing of the cluster. */}}
{{- if ne .identity "holder" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  # Unique in the cluster, as the ServiceAccount is in its namespace.
  name: {{ printf "%s:%s" $namespace $account | quote }}
  labels: {{- $labels | nindent 4 }}
rules: {{- include "campaign-queue.rules.cluster" .root | nindent 2 }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ printf "%s:%s" $namespace $account | quote }}
  labels: {{- $labels | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ printf "%s:%s" $namespace $account | quote }}
subjects:
  - kind: ServiceAccount
    name: {{ $account | quote }}
    namespace: {{ $namespace | quote }}
{{- end }}
{{- end }}

{{- define "campaign-queue.identityLabels" -}}
{{ include "campaign-queue.labels" .root }}
app.kubernetes.io/component: {{ .identity }}
{{- end }}
