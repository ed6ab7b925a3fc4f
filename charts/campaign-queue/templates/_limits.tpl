{{- /*
What Kueue demands of the borrowing and lending limits of a flavor; give (dict "root" $ "flavor" .).
Prints nothing.
*/}}
{{- define "campaign-queue.checkLimits" -}}
{{- $flavor := .flavor -}}
{{- $cohort := .root.Values.queue.cohort -}}
{{- range $limit := list "borrowingLimit" "lendingLimit" -}}
{{- range $resource, $quantity := get $flavor $limit | default dict -}}
{{- if not $cohort -}}
{{- fail (printf "flavor %q has a %s and queue.cohort is empty; name the cohort, or leave the limit out" $flavor.name $limit) -}}
{{- end -}}
{{- if not (hasKey $flavor.quota $resource) -}}
{{- fail (printf "flavor %q has a %s of %s and no quota of it; add it to the quota, or leave the limit out" $flavor.name $limit $resource) -}}
{{- end -}}
{{- if eq $limit "lendingLimit" -}}
{{- $nominal := get $flavor.quota $resource -}}
{{- if gt (include "campaign-queue.amount" $quantity | float64) (include "campaign-queue.amount" $nominal | float64) -}}
{{- fail (printf "flavor %q lends %s of %s and has a quota of %s; lend at most that" $flavor.name (include "campaign-queue.plain" $quantity) $resource (include "campaign-queue.plain" $nominal)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "campaign-queue.plain" -}}
{{ . | toJson | trimAll "\"" }}
{{- end }}

{{- /* A quantity as a number, to compare: 1.5Ki gives 1536. */}}
{{- define "campaign-queue.amount" -}}
{{- $text := include "campaign-queue.plain" . -}}
{{- $factors := dict "n" 1e-9 "u" 1e-6 "m" 1e-3 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976 -}}
{{- $unit := regexFind "[A-Za-z]+$" $text -}}
{{- if $unit -}}
{{ mulf (trimSuffix $unit $text | float64) (get $factors $unit) }}
{{- else -}}
{{ $text | float64 }}
{{- end }}
{{- end }}
