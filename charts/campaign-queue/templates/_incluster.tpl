{{- /* The image of the tool; give the root. Whatever comes of a digest is the same for ever. */}}
{{- define "campaign-queue.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ printf "%s@%s" .repository .digest }}
{{- else -}}
{{ printf "%s:%s" .repository (.tag | default $.Chart.AppVersion) }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What the pods of the tool share; give the root. */}}
{{- define "campaign-queue.toolPod" -}}
restartPolicy: Never
# Only the container that asks the API server gets a token, by a volume of its own.
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  # The user of the image: ssh wants one that it has a name for.
  runAsUser: 1000
  runAsGroup: 1000
  # Makes Secrets readable to that user, and to nobody else.
  fsGroup: 1000
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* What the containers of the tool share; give the root. */}}
{{- define "campaign-queue.toolContainer" -}}
image: {{ include "campaign-queue.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
# The last lines of the log are the reason that the pod's status gives.
terminationMessagePolicy: FallbackToLogsOnError
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end }}

{{- /* Where the API server is and who asks, as every pod would have it by default. */}}
{{- define "campaign-queue.tokenVolume" -}}
- name: token
  projected:
    defaultMode: 0440
    sources:
      - serviceAccountToken:
          path: token
          expirationSeconds: 3600
      - configMap:
          name: kube-root-ca.crt
          items: [{key: ca.crt, path: ca.crt}]
      - downwardAPI:
          items: [{path: namespace, fieldRef: {apiVersion: v1, fieldPath: metadata.namespace}}]
{{- end }}

{{- define "campaign-queue.tokenMount" -}}
- {name: token, mountPath: /var/run/secrets/kubernetes.io/serviceaccount, readOnly: true}
{{- end }}

{{- /* What a schema cannot say of apply.inCluster; give the root. Prints nothing. */}}
{{- define "campaign-queue.checkInCluster" -}}
{{- $settings := .Values.apply.inCluster -}}
{{- $url := $settings.repository.url -}}
{{- $isHttps := hasPrefix "https://" $url -}}
{{- if not .Values.apply.enabled -}}
{{- fail "apply.inCluster runs as the identity apply; set apply.enabled to true" -}}
{{- end -}}
{{- if gt (len .Release.Name) 46 -}}
{{- fail (printf "apply.inCluster: the CronJob %s-apply has a name of more than 52 characters, which Kubernetes refuses; install the release under a name of at most 46" .Release.Name) -}}
{{- end -}}
{{- include "campaign-queue.checkSchedule" $settings.schedule -}}
{{- include "campaign-queue.checkToolResources" . -}}
{{- if not .Values.image.repository -}}
{{- fail "image.repository is empty; name the image of the tool, which apply.inCluster runs" -}}
{{- end -}}
{{- if not $url -}}
{{- fail "apply.inCluster.repository.url is empty; write the address of the campaigns repository" -}}
{{- end -}}
{{- if and $isHttps $settings.sshSecret -}}
{{- fail (printf "apply.inCluster: %s is not fetched by ssh; write httpSecret in place of sshSecret, or the ssh address" $url) -}}
{{- end -}}
{{- if and (not $isHttps) $settings.httpSecret -}}
{{- fail (printf "apply.inCluster: %s is fetched by ssh; write sshSecret in place of httpSecret, or the https address" $url) -}}
{{- end -}}
{{- if not (or $isHttps $settings.sshSecret) -}}
{{- fail (printf "apply.inCluster: %s is fetched by ssh; name the Secret with ssh-privatekey and known_hosts in sshSecret" $url) -}}
{{- end -}}
{{- if and (not $isHttps) $settings.caConfigMap -}}
{{- fail (printf "apply.inCluster: %s is fetched by ssh, which knows a server by known_hosts; leave out caConfigMap" $url) -}}
{{- end -}}
{{- end }}

{{- /* No container asks for more than its limit; give the root. Prints nothing. */}}
{{- define "campaign-queue.checkToolResources" -}}
{{- $limits := .Values.apply.inCluster.resources.limits -}}
{{- range $resource, $request := .Values.apply.inCluster.resources.requests -}}
{{- if hasKey $limits $resource -}}
{{- $limit := get $limits $resource -}}
{{- if gt (include "campaign-queue.amount" $request | float64) (include "campaign-queue.amount" $limit | float64) -}}
{{- fail (printf "apply.inCluster.resources: requests has %s of %s, and limits has %s; raise the limit, or lower the request" (include "campaign-queue.plain" $request) $resource (include "campaign-queue.plain" $limit)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* The five fields of a schedule, as Kubernetes reads them; give the schedule. Prints nothing. */}}
{{- define "campaign-queue.checkSchedule" -}}
{{- $schedule := . -}}
{{- if not (hasPrefix "@" $schedule) -}}
{{- $months := "(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)" -}}
{{- $days := "(?i:sun|mon|tue|wed|thu|fri|sat)" -}}
{{- $kinds := list (list "minute" "0-59" "0*[1-5]?[0-9]") (list "hour" "0-23" "0*(1?[0-9]|2[0-3])") (list "day" "1-31" "0*([1-9]|[12][0-9]|3[01])") (list "month" "1-12" (printf "(0*([1-9]|1[0-2])|%s)" $months)) (list "weekday" "0-6" (printf "(0*[0-6]|%s)" $days)) -}}
{{- range $index, $field := splitList " " $schedule -}}
{{- $kind := index $kinds $index -}}
{{- range $part := splitList "," $field -}}
{{- $pattern := printf "^([*?]|%s(-%s)?)(/0*[1-9][0-9]*)?$" (last $kind) (last $kind) -}}
{{- $ends := regexFind "^[0-9]+-[0-9]+" $part | splitList "-" -}}
{{- $backwards := and (eq (len $ends) 2) (gt (first $ends | trimPrefix "0" | atoi) (last $ends | trimPrefix "0" | atoi)) -}}
{{- if or $backwards (not (regexMatch $pattern $part)) -}}
{{- fail (printf "apply.inCluster.schedule: the %s is %q in %q; write a number of %s, a range such as 1-5, * or */5" (first $kind) $part $schedule (index $kind 1)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}
