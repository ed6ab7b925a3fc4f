{{- /*
What the admission policies share. An expression is CEL; a value goes into it by toJson, whose strings
and lists CEL reads as its own.
*/}}

{{- /* The labels and the name of a policy and its binding; give (dict "root" $ "policy" "queue"). */}}
{{- define "campaign-queue.policyMetadata" -}}
{{- /* Neither a namespace nor the last part has a dot, so that no two releases share a name. */ -}}
name: {{ printf "%s.%s.%s" .root.Release.Namespace .root.Release.Name .policy | quote }}
labels: {{- include "campaign-queue.labels" .root | nindent 2 }}
{{- end }}

{{- /* Binds a policy to the namespaces of all teams; give (dict "root" $ "policy" "queue"). */}}
{{- define "campaign-queue.policyBinding" -}}
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{- include "campaign-queue.policyMetadata" . | nindent 2 }}
spec:
  policyName: {{ printf "%s.%s.%s" .root.Release.Namespace .root.Release.Name .policy | quote }}
  validationActions: {{- toYaml .root.Values.security.policies.actions | nindent 4 }}
  matchResources:
    namespaceSelector:
      matchExpressions:
        - key: kubernetes.io/metadata.name
          operator: In
          values:
            {{- range include "campaign-queue.teams" .root | fromYamlArray }}
            - {{ .namespace | quote }}
            {{- end }}
{{- end }}

{{- /* A condition: not for those whom the values exempt; give the root. */}}
{{- define "campaign-queue.policyNotExempt" -}}
{{- with .Values.security.policies -}}
- name: not-exempt
  expression: |-
    !(request.userInfo.username in {{ toJson .exemptUsers }})
    && !(has(request.userInfo.groups)
         && request.userInfo.groups.exists(group, group in {{ toJson .exemptGroups }}))
{{- end }}
{{- end }}

{{- /*
A condition: no update by a controller. What it updates was checked when it was created, or is older
than the policy, and must be able to end.
*/}}
{{- define "campaign-queue.policyNotControllerUpdate" -}}
- name: not-an-update-by-a-controller
  expression: |-
    request.operation == 'CREATE' || !({{- include "campaign-queue.celController" . | nindent 6 }})
{{- end }}

{{- /*
CEL: the request is of one of Kubernetes' controllers that change or delete Jobs and ConfigMaps, or of
Kueue; give the root. Other accounts of kube-system are whoever was let in there.
*/}}
{{- define "campaign-queue.celController" -}}
{{- $controllers := list "job-controller" "cronjob-controller" "ttl-after-finished-controller" "generic-garbage-collector" "namespace-controller" "storage-version-migrator-controller" -}}
{{- include "campaign-queue.celIsController" (dict "root" . "controllers" $controllers) }}
|| request.userInfo.username in {{ toJson .Values.security.policies.kueueUsers }}
{{- end }}

{{- /*
CEL: the request is of controllers of kube-controller-manager, which are one user where it runs without
--use-service-account-credentials; give (dict "root" $ "controllers" (list "job-controller")).
*/}}
{{- define "campaign-queue.celIsController" -}}
{{- $users := list -}}
{{- range .controllers }}
{{- $users = append $users (printf "system:serviceaccount:kube-system:%s" .) }}
{{- end -}}
request.userInfo.username in
{{ concat $users (list "system:kube-controller-manager") .root.Values.security.policies.controllerUsers | toJson }}
{{- end }}

{{- /* Variables: the pod of a Job or Pod, and its containers. */}}
{{- define "campaign-queue.policyPod" -}}
# dyn: the one expression is for two kinds.
- name: pod
  expression: "request.resource.resource == 'jobs' ? dyn(object).spec.template.spec : dyn(object).spec"
- name: containers
  expression: |-
    variables.pod.containers
    + variables.pod.?initContainers.orValue([])
    + variables.pod.?ephemeralContainers.orValue([])
{{- end }}

{{- /*
A variable: the Job or Pod is the tool's own, of apply.inCluster or of the helm test, and has no image
but the tool's; give the root. It needs the variables of policyPod.
*/}}
{{- define "campaign-queue.policyTool" -}}
- name: owners
  expression: "object.metadata.?ownerReferences.orValue([]).filter(owner, owner.?controller.orValue(false))"
- name: tool
  expression: |-
    {{- if not .Values.image.repository }}
    false
    {{- else }}
    request.namespace == {{ toJson .Release.Namespace }}
    && variables.containers.all(container, container.?image.orValue('') == {{ include "campaign-queue.image" . | toJson }})
    && (
      {{- $apply := printf "%s-apply" .Release.Name }}
      {{- if and .Values.apply.enabled .Values.apply.inCluster.enabled }}
      {{- $account := include "campaign-queue.serviceAccountName" (dict "root" . "identity" "apply") }}
      variables.pod.?serviceAccountName.orValue('') == {{ toJson $account }}
      && (request.resource.resource == 'jobs'
          ? {{- include "campaign-queue.celIsController" (dict "root" . "controllers" (list "cronjob-controller")) | nindent 12 }}
            && variables.owners.exists(owner, owner.kind == 'CronJob' && owner.name == {{ toJson $apply }})
          : {{- include "campaign-queue.celIsController" (dict "root" . "controllers" (list "job-controller")) | nindent 12 }}
            && variables.owners.exists(owner,
              owner.kind == 'Job' && owner.name.matches({{ printf "^%s-[0-9]+$" (regexQuoteMeta $apply) | toJson }})))
      {{- else }}
      false
      {{- end }}
      {{- if and .Values.viewer.enabled .Values.tests.converterConfigMap }}
      {{- $account := include "campaign-queue.serviceAccountName" (dict "root" . "identity" "viewer") }}
      || request.resource.resource == 'pods'
         && object.metadata.name == {{ printf "%s-doctor" .Release.Name | toJson }}
         && variables.pod.?serviceAccountName.orValue('') == {{ toJson $account }}
      {{- end }}
    )
    {{- end }}
{{- end }}
