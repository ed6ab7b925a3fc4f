{{- /* Whom Kueue may stop half-way to let another one start; by default nobody. */}}
{{- define "campaign-queue.preemption" -}}
{{- $preemption := .Values.queue.preemption -}}
{{- $borrow := $preemption.borrowWithinCohort.policy -}}
{{- if and (ne $borrow "Never") (eq $preemption.reclaimWithinCohort "Never") -}}
{{- fail (printf "queue.preemption: Kueue refuses borrowWithinCohort.policy %s with reclaimWithinCohort Never; set reclaimWithinCohort to LowerPriority or Any, or the policy to Never" $borrow) -}}
{{- end -}}
{{- if and (ne $preemption.reclaimWithinCohort "Never") (not .Values.queue.cohort) -}}
{{- fail (printf "queue.preemption: reclaimWithinCohort is %s and queue.cohort is empty; name the cohort, or write Never" $preemption.reclaimWithinCohort) -}}
{{- end -}}
withinClusterQueue: {{ $preemption.withinClusterQueue }}
reclaimWithinCohort: {{ $preemption.reclaimWithinCohort }}
{{- if ne $borrow "Never" }}
borrowWithinCohort:
  policy: {{ $borrow }}
{{- end }}
{{- end }}
