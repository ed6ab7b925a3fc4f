{{- /* Egress rules with the one for DNS before them; give (dict "root" $ "rules" list). */}}
{{- define "campaign-queue.egress" -}}
{{- $rules := .rules -}}
{{- range $rules -}}
{{- range .ports -}}
{{- if .endPort -}}
{{- if or (kindIs "string" .port) (lt (int .endPort) (int .port)) (not .port) -}}
{{- fail (printf "network: endPort %d ends a range, and its port is no number that is at most that; write port and endPort as numbers" (int .endPort)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
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
