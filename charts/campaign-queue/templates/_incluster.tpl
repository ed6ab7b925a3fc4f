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
