{{- /* Egress rules with the one for DNS before them; give (dict "root" $ "rules" list). */}}
{{- define "campaign-queue.egress" -}}
{{- $rules := .rules -}}
{{- with .root.Values.network.dns -}}
{{- /* No `to` would mean everywhere. */ -}}
{{- if .to -}}
{{- $ports := list -}}
{{- range $port := .ports -}}
{{- range $protocol := list "UDP" "TCP" -}}
{{- $ports = append $ports (dict "port" $port "protocol" $protocol) -}}
{{- end -}}
{{- end -}}
{{- $rules = prepend $rules (dict "ports" $ports "to" .to) -}}
{{- end -}}
{{- end -}}
{{ toYaml $rules }}
{{- end }}
