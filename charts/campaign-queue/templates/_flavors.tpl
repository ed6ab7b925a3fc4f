{{- /* The flavors as a YAML list, checked: those of queue.flavors, else the single one. */}}
{{- define "campaign-queue.flavors" -}}
{{- $flavors := .Values.queue.flavors -}}
{{- if $flavors -}}
{{- range $limit := list "borrowingLimit" "lendingLimit" -}}
{{- if get $.Values.queue $limit -}}
{{- fail (printf "queue.%s is that of the single flavor; with queue.flavors, write it in each flavor" $limit) -}}
{{- end -}}
{{- end -}}
{{- include "campaign-queue.checkFlavors" $flavors -}}
{{- else -}}
{{- $name := .Values.queue.flavor | default (printf "%s-flavor" (include "campaign-queue.queueName" .)) -}}
{{- $flavors = list (merge (dict "name" $name) (pick .Values.queue "quota" "borrowingLimit" "lendingLimit")) -}}
{{- end -}}
{{- range $flavors -}}
{{- include "campaign-queue.checkLimits" (dict "root" $ "flavor" .) -}}
{{- end -}}
{{ toYaml $flavors }}
{{- end }}

{{- /* What a schema cannot say of a list of flavors. Prints nothing. */}}
{{- define "campaign-queue.checkFlavors" -}}
{{- $flavors := . -}}
{{- $covered := dict -}}
{{- range $flavors -}}
{{- $covered = merge $covered .quota -}}
{{- end -}}
{{- $quotas := mul (len $flavors) (len $covered) -}}
{{- if gt $quotas 512 -}}
{{- fail (printf "queue.flavors: %d flavors with %d resources each are more quotas than the 512 that Kueue takes; leave some out" (len $flavors) (len $covered)) -}}
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
{{- fail (printf "queue.flavors: %q and %q share no label key with different values, so a node could be counted for both, and a pod meant for one be admitted on the other; give both a label such as node-type, each with its own value" $one.name $other.name) -}}
{{- end -}}
{{- end }}
