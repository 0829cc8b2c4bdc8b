{{/* Name of all objects. Cluster-scoped ones are unique while release names are unique in the cluster. */}}
{{- define "searchkeeper.name" -}}
{{- if contains "searchkeeper" .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-searchkeeper" (.Release.Name | trunc 37 | trimSuffix "-") -}}
{{- end -}}
{{- end -}}

{{- define "searchkeeper.selectorLabels" -}}
app.kubernetes.io/name: searchkeeper
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "searchkeeper.labels" -}}
{{ include "searchkeeper.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}
