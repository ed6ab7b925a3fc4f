{{- /* The flavors as a YAML list, checked: those of queue.flavors, else the single one. */}}
{{- define "campaign-queue.flavors" -}}
{{- if .Values.queue.flavors -}}
{{- include "campaign-queue.checkFlavors" .Values.queue.flavors -}}
{{ toYaml .Values.queue.flavors }}
{{- else -}}
- name: {{ .Values.queue.flavor | default (printf "%s-flavor" (include "campaign-queue.queueName" .)) | quote }}
  quota: {{- toYaml .Values.queue.quota | nindent 4 }}
{{- end }}
{{- end }}

{{- /* What a schema cannot say of a list of flavors. Prints nothing. */}}
{{- define "campaign-queue.checkFlavors" -}}
{{- $flavors := . -}}
{{- $covered := dict -}}
{{- range $flavors -}}
{{- $covered = merge $covered .quota -}}
{{- end -}}
{{- range $index, $flavor := $flavors -}}
{{- range $resource := keys $covered | sortAlpha -}}
{{- if not (hasKey $flavor.quota $resource) -}}
{{- fail (printf "queue.flavors: the quota of %q lacks %s, which another flavor has; write it, 0 for none" $flavor.name $resource) -}}
{{- end -}}
{{- end -}}
{{- $taints := list -}}
{{- range $flavor.nodeTaints -}}
{{- $taint := printf "%s:%s" .key .effect -}}
{{- if has $taint $taints -}}
{{- fail (printf "queue.flavors: %q has two taints %s; a node can have one of each key and effect" $flavor.name $taint) -}}
{{- end -}}
{{- $taints = append $taints $taint -}}
{{- end -}}
{{- range $earlier := slice $flavors 0 $index -}}
{{- if eq $earlier.name $flavor.name -}}
{{- fail (printf "queue.flavors: two flavors are named %q; give each a name of its own" $flavor.name) -}}
{{- end -}}
{{- include "campaign-queue.checkDistinct" (list $earlier $flavor) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* Kueue compares a pod's node selector with a flavor only on keys that flavors name. */}}
{{- define "campaign-queue.checkDistinct" -}}
{{- $one := first . -}}
{{- $other := last . -}}
{{- $distinct := false -}}
{{- range $key, $value := $one.nodeLabels -}}
{{- if and (hasKey $other.nodeLabels $key) (ne $value (get $other.nodeLabels $key)) -}}
{{- $distinct = true -}}
{{- end -}}
{{- end -}}
{{- if not $distinct -}}
{{- fail (printf "queue.flavors: %q and %q share no label key with different values, so Kueue could admit a pod meant for one on the other; give both a label such as node-type, each with its own value" $one.name $other.name) -}}
{{- end -}}
{{- end }}
