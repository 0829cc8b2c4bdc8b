"""The fields of the Go structs that Kubernetes and OLM decode the manifests of a bundle into.

A type is a scalar type of Go, `bytes` for []byte, `any`, the name of a struct, `[]T` for a list, `map T` for
a map with string keys, or `!T` for a type with its own UnmarshalJSON (`everpath.go_types.decoding`). The
table is taken from the Go types by reflection (`tests/everpath/conformance/oracle/types.go`); a conformance
test compares the two.
"""

from __future__ import annotations

__all__ = ["STRUCTS"]

from collections.abc import Mapping
from typing import Final

# fmt: off
STRUCTS: Final[Mapping[str, Mapping[str, str]]] = {
    "admissionregistration.RuleWithOperations": {
        "operations": "[]string", "apiGroups": "[]string", "apiVersions": "[]string", "resources": "[]string",
        "scope": "string",
    },
    "apiextensions.CustomResourceColumnDefinition": {
        "name": "string", "type": "string", "format": "string", "description": "string", "priority": "int32",
        "jsonPath": "string",
    },
    "apiextensions.CustomResourceConversion": {
        "strategy": "string", "webhook": "apiextensions.WebhookConversion",
    },
    "apiextensions.CustomResourceDefinition": {
        "kind": "string", "apiVersion": "string", "metadata": "meta.ObjectMeta",
        "spec": "apiextensions.CustomResourceDefinitionSpec",
        "status": "apiextensions.CustomResourceDefinitionStatus",
    },
    "apiextensions.CustomResourceDefinitionCondition": {
        "type": "string", "status": "string", "lastTransitionTime": "!Time", "reason": "string",
        "message": "string", "observedGeneration": "int64",
    },
    "apiextensions.CustomResourceDefinitionNames": {
        "plural": "string", "singular": "string", "shortNames": "[]string", "kind": "string",
        "listKind": "string", "categories": "[]string",
    },
    "apiextensions.CustomResourceDefinitionSpec": {
        "group": "string", "names": "apiextensions.CustomResourceDefinitionNames", "scope": "string",
        "versions": "[]apiextensions.CustomResourceDefinitionVersion",
        "conversion": "apiextensions.CustomResourceConversion", "preserveUnknownFields": "bool",
    },
    "apiextensions.CustomResourceDefinitionStatus": {
        "conditions": "[]apiextensions.CustomResourceDefinitionCondition",
        "acceptedNames": "apiextensions.CustomResourceDefinitionNames", "storedVersions": "[]string",
        "observedGeneration": "int64",
    },
    "apiextensions.CustomResourceDefinitionVersion": {
        "name": "string", "served": "bool", "storage": "bool", "deprecated": "bool",
        "deprecationWarning": "string", "schema": "apiextensions.CustomResourceValidation",
        "subresources": "apiextensions.CustomResourceSubresources",
        "additionalPrinterColumns": "[]apiextensions.CustomResourceColumnDefinition",
        "selectableFields": "[]apiextensions.SelectableField",
    },
    "apiextensions.CustomResourceSubresourceScale": {
        "specReplicasPath": "string", "statusReplicasPath": "string", "labelSelectorPath": "string",
    },
    "apiextensions.CustomResourceSubresourceStatus": {},
    "apiextensions.CustomResourceSubresources": {
        "status": "apiextensions.CustomResourceSubresourceStatus",
        "scale": "apiextensions.CustomResourceSubresourceScale",
    },
    "apiextensions.CustomResourceValidation": {
        "openAPIV3Schema": "apiextensions.JSONSchemaProps",
    },
    "apiextensions.ExternalDocumentation": {
        "description": "string", "url": "string",
    },
    "apiextensions.JSONSchemaProps": {
        "id": "string", "$schema": "string", "$ref": "string", "description": "string", "type": "string",
        "format": "string", "title": "string", "default": "!JSON", "maximum": "float64",
        "exclusiveMaximum": "bool", "minimum": "float64", "exclusiveMinimum": "bool", "maxLength": "int64",
        "minLength": "int64", "pattern": "string", "maxItems": "int64", "minItems": "int64",
        "uniqueItems": "bool", "multipleOf": "float64", "enum": "[]!JSON", "maxProperties": "int64",
        "minProperties": "int64", "required": "[]string", "items": "!JSONSchemaPropsOrArray",
        "allOf": "[]apiextensions.JSONSchemaProps", "oneOf": "[]apiextensions.JSONSchemaProps",
        "anyOf": "[]apiextensions.JSONSchemaProps", "not": "apiextensions.JSONSchemaProps",
        "properties": "map apiextensions.JSONSchemaProps", "additionalProperties": "!JSONSchemaPropsOrBool",
        "patternProperties": "map apiextensions.JSONSchemaProps",
        "dependencies": "map !JSONSchemaPropsOrStringArray", "additionalItems": "!JSONSchemaPropsOrBool",
        "definitions": "map apiextensions.JSONSchemaProps",
        "externalDocs": "apiextensions.ExternalDocumentation", "example": "!JSON", "nullable": "bool",
        "x-kubernetes-preserve-unknown-fields": "bool", "x-kubernetes-embedded-resource": "bool",
        "x-kubernetes-int-or-string": "bool", "x-kubernetes-list-map-keys": "[]string",
        "x-kubernetes-list-type": "string", "x-kubernetes-map-type": "string",
        "x-kubernetes-validations": "[]apiextensions.ValidationRule",
    },
    "apiextensions.SelectableField": {
        "jsonPath": "string",
    },
    "apiextensions.ServiceReference": {
        "namespace": "string", "name": "string", "path": "string", "port": "int32",
    },
    "apiextensions.ValidationRule": {
        "rule": "string", "message": "string", "messageExpression": "string", "reason": "string",
        "fieldPath": "string", "optionalOldSelf": "bool",
    },
    "apiextensions.WebhookClientConfig": {
        "url": "string", "service": "apiextensions.ServiceReference", "caBundle": "bytes",
    },
    "apiextensions.WebhookConversion": {
        "clientConfig": "apiextensions.WebhookClientConfig", "conversionReviewVersions": "[]string",
    },
    "apps.DeploymentSpec": {
        "replicas": "int32", "selector": "meta.LabelSelector", "template": "core.PodTemplateSpec",
        "strategy": "apps.DeploymentStrategy", "minReadySeconds": "int32", "revisionHistoryLimit": "int32",
        "paused": "bool", "progressDeadlineSeconds": "int32",
    },
    "apps.DeploymentStrategy": {
        "type": "string", "rollingUpdate": "apps.RollingUpdateDeployment",
    },
    "apps.RollingUpdateDeployment": {
        "maxUnavailable": "!IntOrString", "maxSurge": "!IntOrString",
    },
    "core.AWSElasticBlockStoreVolumeSource": {
        "volumeID": "string", "fsType": "string", "partition": "int32", "readOnly": "bool",
    },
    "core.Affinity": {
        "nodeAffinity": "core.NodeAffinity", "podAffinity": "core.PodAffinity",
        "podAntiAffinity": "core.PodAntiAffinity",
    },
    "core.AppArmorProfile": {
        "type": "string", "localhostProfile": "string",
    },
    "core.AzureDiskVolumeSource": {
        "diskName": "string", "diskURI": "string", "cachingMode": "string", "fsType": "string",
        "readOnly": "bool", "kind": "string",
    },
    "core.AzureFileVolumeSource": {
        "secretName": "string", "shareName": "string", "readOnly": "bool",
    },
    "core.CSIVolumeSource": {
        "driver": "string", "readOnly": "bool", "fsType": "string", "volumeAttributes": "map string",
        "nodePublishSecretRef": "core.LocalObjectReference",
    },
    "core.Capabilities": {
        "add": "[]string", "drop": "[]string",
    },
    "core.CephFSVolumeSource": {
        "monitors": "[]string", "path": "string", "user": "string", "secretFile": "string",
        "secretRef": "core.LocalObjectReference", "readOnly": "bool",
    },
    "core.CinderVolumeSource": {
        "volumeID": "string", "fsType": "string", "readOnly": "bool",
        "secretRef": "core.LocalObjectReference",
    },
    "core.ClusterTrustBundleProjection": {
        "name": "string", "signerName": "string", "labelSelector": "meta.LabelSelector", "optional": "bool",
        "path": "string",
    },
    "core.ConfigMapEnvSource": {
        "name": "string", "optional": "bool",
    },
    "core.ConfigMapKeySelector": {
        "name": "string", "key": "string", "optional": "bool",
    },
    "core.ConfigMapProjection": {
        "name": "string", "items": "[]core.KeyToPath", "optional": "bool",
    },
    "core.ConfigMapVolumeSource": {
        "name": "string", "items": "[]core.KeyToPath", "defaultMode": "int32", "optional": "bool",
    },
    "core.Container": {
        "name": "string", "image": "string", "command": "[]string", "args": "[]string",
        "workingDir": "string", "ports": "[]core.ContainerPort", "envFrom": "[]core.EnvFromSource",
        "env": "[]core.EnvVar", "resources": "core.ResourceRequirements",
        "resizePolicy": "[]core.ContainerResizePolicy", "restartPolicy": "string",
        "restartPolicyRules": "[]core.ContainerRestartRule", "volumeMounts": "[]core.VolumeMount",
        "volumeDevices": "[]core.VolumeDevice", "livenessProbe": "core.Probe", "readinessProbe": "core.Probe",
        "startupProbe": "core.Probe", "lifecycle": "core.Lifecycle", "terminationMessagePath": "string",
        "terminationMessagePolicy": "string", "imagePullPolicy": "string",
        "securityContext": "core.SecurityContext", "stdin": "bool", "stdinOnce": "bool", "tty": "bool",
    },
    "core.ContainerPort": {
        "name": "string", "hostPort": "int32", "containerPort": "int32", "protocol": "string",
        "hostIP": "string",
    },
    "core.ContainerResizePolicy": {
        "resourceName": "string", "restartPolicy": "string",
    },
    "core.ContainerRestartRule": {
        "action": "string", "exitCodes": "core.ContainerRestartRuleOnExitCodes",
    },
    "core.ContainerRestartRuleOnExitCodes": {
        "operator": "string", "values": "[]int32",
    },
    "core.DownwardAPIProjection": {
        "items": "[]core.DownwardAPIVolumeFile",
    },
    "core.DownwardAPIVolumeFile": {
        "path": "string", "fieldRef": "core.ObjectFieldSelector",
        "resourceFieldRef": "core.ResourceFieldSelector", "mode": "int32",
    },
    "core.DownwardAPIVolumeSource": {
        "items": "[]core.DownwardAPIVolumeFile", "defaultMode": "int32",
    },
    "core.EmptyDirVolumeSource": {
        "medium": "string", "sizeLimit": "!Quantity",
    },
    "core.EnvFromSource": {
        "prefix": "string", "configMapRef": "core.ConfigMapEnvSource", "secretRef": "core.SecretEnvSource",
    },
    "core.EnvVar": {
        "name": "string", "value": "string", "valueFrom": "core.EnvVarSource",
    },
    "core.EnvVarSource": {
        "fieldRef": "core.ObjectFieldSelector", "resourceFieldRef": "core.ResourceFieldSelector",
        "configMapKeyRef": "core.ConfigMapKeySelector", "secretKeyRef": "core.SecretKeySelector",
        "fileKeyRef": "core.FileKeySelector",
    },
    "core.EphemeralContainer": {
        "name": "string", "image": "string", "command": "[]string", "args": "[]string",
        "workingDir": "string", "ports": "[]core.ContainerPort", "envFrom": "[]core.EnvFromSource",
        "env": "[]core.EnvVar", "resources": "core.ResourceRequirements",
        "resizePolicy": "[]core.ContainerResizePolicy", "restartPolicy": "string",
        "restartPolicyRules": "[]core.ContainerRestartRule", "volumeMounts": "[]core.VolumeMount",
        "volumeDevices": "[]core.VolumeDevice", "livenessProbe": "core.Probe", "readinessProbe": "core.Probe",
        "startupProbe": "core.Probe", "lifecycle": "core.Lifecycle", "terminationMessagePath": "string",
        "terminationMessagePolicy": "string", "imagePullPolicy": "string",
        "securityContext": "core.SecurityContext", "stdin": "bool", "stdinOnce": "bool", "tty": "bool",
        "targetContainerName": "string",
    },
    "core.EphemeralVolumeSource": {
        "volumeClaimTemplate": "core.PersistentVolumeClaimTemplate",
    },
    "core.ExecAction": {
        "command": "[]string",
    },
    "core.FCVolumeSource": {
        "targetWWNs": "[]string", "lun": "int32", "fsType": "string", "readOnly": "bool", "wwids": "[]string",
    },
    "core.FileKeySelector": {
        "volumeName": "string", "path": "string", "key": "string", "optional": "bool",
    },
    "core.FlexVolumeSource": {
        "driver": "string", "fsType": "string", "secretRef": "core.LocalObjectReference", "readOnly": "bool",
        "options": "map string",
    },
    "core.FlockerVolumeSource": {
        "datasetName": "string", "datasetUUID": "string",
    },
    "core.GCEPersistentDiskVolumeSource": {
        "pdName": "string", "fsType": "string", "partition": "int32", "readOnly": "bool",
    },
    "core.GRPCAction": {
        "port": "int32", "service": "string",
    },
    "core.GitRepoVolumeSource": {
        "repository": "string", "revision": "string", "directory": "string",
    },
    "core.GlusterfsVolumeSource": {
        "endpoints": "string", "path": "string", "readOnly": "bool",
    },
    "core.HTTPGetAction": {
        "path": "string", "port": "!IntOrString", "host": "string", "scheme": "string",
        "httpHeaders": "[]core.HTTPHeader",
    },
    "core.HTTPHeader": {
        "name": "string", "value": "string",
    },
    "core.HostAlias": {
        "ip": "string", "hostnames": "[]string",
    },
    "core.HostPathVolumeSource": {
        "path": "string", "type": "string",
    },
    "core.ISCSIVolumeSource": {
        "targetPortal": "string", "iqn": "string", "lun": "int32", "iscsiInterface": "string",
        "fsType": "string", "readOnly": "bool", "portals": "[]string", "chapAuthDiscovery": "bool",
        "chapAuthSession": "bool", "secretRef": "core.LocalObjectReference", "initiatorName": "string",
    },
    "core.ImageVolumeSource": {
        "reference": "string", "pullPolicy": "string",
    },
    "core.KeyToPath": {
        "key": "string", "path": "string", "mode": "int32",
    },
    "core.Lifecycle": {
        "postStart": "core.LifecycleHandler", "preStop": "core.LifecycleHandler", "stopSignal": "string",
    },
    "core.LifecycleHandler": {
        "exec": "core.ExecAction", "httpGet": "core.HTTPGetAction", "tcpSocket": "core.TCPSocketAction",
        "sleep": "core.SleepAction",
    },
    "core.LocalObjectReference": {
        "name": "string",
    },
    "core.NFSVolumeSource": {
        "server": "string", "path": "string", "readOnly": "bool",
    },
    "core.NodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": "core.NodeSelector",
        "preferredDuringSchedulingIgnoredDuringExecution": "[]core.PreferredSchedulingTerm",
    },
    "core.NodeSelector": {
        "nodeSelectorTerms": "[]core.NodeSelectorTerm",
    },
    "core.NodeSelectorRequirement": {
        "key": "string", "operator": "string", "values": "[]string",
    },
    "core.NodeSelectorTerm": {
        "matchExpressions": "[]core.NodeSelectorRequirement", "matchFields": "[]core.NodeSelectorRequirement",
    },
    "core.ObjectFieldSelector": {
        "apiVersion": "string", "fieldPath": "string",
    },
    "core.PersistentVolumeClaimSpec": {
        "accessModes": "[]string", "selector": "meta.LabelSelector",
        "resources": "core.VolumeResourceRequirements", "volumeName": "string", "storageClassName": "string",
        "volumeMode": "string", "dataSource": "core.TypedLocalObjectReference",
        "dataSourceRef": "core.TypedObjectReference", "volumeAttributesClassName": "string",
    },
    "core.PersistentVolumeClaimTemplate": {
        "metadata": "meta.ObjectMeta", "spec": "core.PersistentVolumeClaimSpec",
    },
    "core.PersistentVolumeClaimVolumeSource": {
        "claimName": "string", "readOnly": "bool",
    },
    "core.PhotonPersistentDiskVolumeSource": {
        "pdID": "string", "fsType": "string",
    },
    "core.PodAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": "[]core.PodAffinityTerm",
        "preferredDuringSchedulingIgnoredDuringExecution": "[]core.WeightedPodAffinityTerm",
    },
    "core.PodAffinityTerm": {
        "labelSelector": "meta.LabelSelector", "namespaces": "[]string", "topologyKey": "string",
        "namespaceSelector": "meta.LabelSelector", "matchLabelKeys": "[]string",
        "mismatchLabelKeys": "[]string",
    },
    "core.PodAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": "[]core.PodAffinityTerm",
        "preferredDuringSchedulingIgnoredDuringExecution": "[]core.WeightedPodAffinityTerm",
    },
    "core.PodCertificateProjection": {
        "signerName": "string", "keyType": "string", "maxExpirationSeconds": "int32",
        "credentialBundlePath": "string", "keyPath": "string", "certificateChainPath": "string",
        "userAnnotations": "map string",
    },
    "core.PodDNSConfig": {
        "nameservers": "[]string", "searches": "[]string", "options": "[]core.PodDNSConfigOption",
    },
    "core.PodDNSConfigOption": {
        "name": "string", "value": "string",
    },
    "core.PodOS": {
        "name": "string",
    },
    "core.PodReadinessGate": {
        "conditionType": "string",
    },
    "core.PodResourceClaim": {
        "name": "string", "resourceClaimName": "string", "resourceClaimTemplateName": "string",
    },
    "core.PodSchedulingGate": {
        "name": "string",
    },
    "core.PodSchedulingGroup": {
        "podGroupName": "string",
    },
    "core.PodSecurityContext": {
        "seLinuxOptions": "core.SELinuxOptions", "windowsOptions": "core.WindowsSecurityContextOptions",
        "runAsUser": "int64", "runAsGroup": "int64", "runAsNonRoot": "bool", "supplementalGroups": "[]int64",
        "supplementalGroupsPolicy": "string", "fsGroup": "int64", "sysctls": "[]core.Sysctl",
        "fsGroupChangePolicy": "string", "seccompProfile": "core.SeccompProfile",
        "appArmorProfile": "core.AppArmorProfile", "seLinuxChangePolicy": "string",
    },
    "core.PodSpec": {
        "volumes": "[]core.Volume", "initContainers": "[]core.Container", "containers": "[]core.Container",
        "ephemeralContainers": "[]core.EphemeralContainer", "restartPolicy": "string",
        "terminationGracePeriodSeconds": "int64", "activeDeadlineSeconds": "int64", "dnsPolicy": "string",
        "nodeSelector": "map string", "serviceAccountName": "string", "serviceAccount": "string",
        "automountServiceAccountToken": "bool", "nodeName": "string", "hostNetwork": "bool",
        "hostPID": "bool", "hostIPC": "bool", "shareProcessNamespace": "bool",
        "securityContext": "core.PodSecurityContext", "imagePullSecrets": "[]core.LocalObjectReference",
        "hostname": "string", "subdomain": "string", "affinity": "core.Affinity", "schedulerName": "string",
        "tolerations": "[]core.Toleration", "hostAliases": "[]core.HostAlias", "priorityClassName": "string",
        "priority": "int32", "dnsConfig": "core.PodDNSConfig", "readinessGates": "[]core.PodReadinessGate",
        "runtimeClassName": "string", "enableServiceLinks": "bool", "preemptionPolicy": "string",
        "overhead": "map !Quantity", "topologySpreadConstraints": "[]core.TopologySpreadConstraint",
        "setHostnameAsFQDN": "bool", "os": "core.PodOS", "hostUsers": "bool",
        "schedulingGates": "[]core.PodSchedulingGate", "resourceClaims": "[]core.PodResourceClaim",
        "resources": "core.ResourceRequirements", "hostnameOverride": "string",
        "schedulingGroup": "core.PodSchedulingGroup",
    },
    "core.PodTemplateSpec": {
        "metadata": "meta.ObjectMeta", "spec": "core.PodSpec",
    },
    "core.PortworxVolumeSource": {
        "volumeID": "string", "fsType": "string", "readOnly": "bool",
    },
    "core.PreferredSchedulingTerm": {
        "weight": "int32", "preference": "core.NodeSelectorTerm",
    },
    "core.Probe": {
        "exec": "core.ExecAction", "httpGet": "core.HTTPGetAction", "tcpSocket": "core.TCPSocketAction",
        "grpc": "core.GRPCAction", "initialDelaySeconds": "int32", "timeoutSeconds": "int32",
        "periodSeconds": "int32", "successThreshold": "int32", "failureThreshold": "int32",
        "terminationGracePeriodSeconds": "int64",
    },
    "core.ProjectedVolumeSource": {
        "sources": "[]core.VolumeProjection", "defaultMode": "int32",
    },
    "core.QuobyteVolumeSource": {
        "registry": "string", "volume": "string", "readOnly": "bool", "user": "string", "group": "string",
        "tenant": "string",
    },
    "core.RBDVolumeSource": {
        "monitors": "[]string", "image": "string", "fsType": "string", "pool": "string", "user": "string",
        "keyring": "string", "secretRef": "core.LocalObjectReference", "readOnly": "bool",
    },
    "core.ResourceClaim": {
        "name": "string", "request": "string",
    },
    "core.ResourceFieldSelector": {
        "containerName": "string", "resource": "string", "divisor": "!Quantity",
    },
    "core.ResourceRequirements": {
        "limits": "map !Quantity", "requests": "map !Quantity", "claims": "[]core.ResourceClaim",
    },
    "core.SELinuxOptions": {
        "user": "string", "role": "string", "type": "string", "level": "string",
    },
    "core.ScaleIOVolumeSource": {
        "gateway": "string", "system": "string", "secretRef": "core.LocalObjectReference",
        "sslEnabled": "bool", "protectionDomain": "string", "storagePool": "string", "storageMode": "string",
        "volumeName": "string", "fsType": "string", "readOnly": "bool",
    },
    "core.SeccompProfile": {
        "type": "string", "localhostProfile": "string",
    },
    "core.SecretEnvSource": {
        "name": "string", "optional": "bool",
    },
    "core.SecretKeySelector": {
        "name": "string", "key": "string", "optional": "bool",
    },
    "core.SecretProjection": {
        "name": "string", "items": "[]core.KeyToPath", "optional": "bool",
    },
    "core.SecretVolumeSource": {
        "secretName": "string", "items": "[]core.KeyToPath", "defaultMode": "int32", "optional": "bool",
    },
    "core.SecurityContext": {
        "capabilities": "core.Capabilities", "privileged": "bool", "seLinuxOptions": "core.SELinuxOptions",
        "windowsOptions": "core.WindowsSecurityContextOptions", "runAsUser": "int64", "runAsGroup": "int64",
        "runAsNonRoot": "bool", "readOnlyRootFilesystem": "bool", "allowPrivilegeEscalation": "bool",
        "procMount": "string", "seccompProfile": "core.SeccompProfile",
        "appArmorProfile": "core.AppArmorProfile",
    },
    "core.ServiceAccountTokenProjection": {
        "audience": "string", "expirationSeconds": "int64", "path": "string",
    },
    "core.SleepAction": {
        "seconds": "int64",
    },
    "core.StorageOSVolumeSource": {
        "volumeName": "string", "volumeNamespace": "string", "fsType": "string", "readOnly": "bool",
        "secretRef": "core.LocalObjectReference",
    },
    "core.Sysctl": {
        "name": "string", "value": "string",
    },
    "core.TCPSocketAction": {
        "port": "!IntOrString", "host": "string",
    },
    "core.Toleration": {
        "key": "string", "operator": "string", "value": "string", "effect": "string",
        "tolerationSeconds": "int64",
    },
    "core.TopologySpreadConstraint": {
        "maxSkew": "int32", "topologyKey": "string", "whenUnsatisfiable": "string",
        "labelSelector": "meta.LabelSelector", "minDomains": "int32", "nodeAffinityPolicy": "string",
        "nodeTaintsPolicy": "string", "matchLabelKeys": "[]string",
    },
    "core.TypedLocalObjectReference": {
        "apiGroup": "string", "kind": "string", "name": "string",
    },
    "core.TypedObjectReference": {
        "apiGroup": "string", "kind": "string", "name": "string", "namespace": "string",
    },
    "core.Volume": {
        "name": "string", "hostPath": "core.HostPathVolumeSource", "emptyDir": "core.EmptyDirVolumeSource",
        "gcePersistentDisk": "core.GCEPersistentDiskVolumeSource",
        "awsElasticBlockStore": "core.AWSElasticBlockStoreVolumeSource",
        "gitRepo": "core.GitRepoVolumeSource", "secret": "core.SecretVolumeSource",
        "nfs": "core.NFSVolumeSource", "iscsi": "core.ISCSIVolumeSource",
        "glusterfs": "core.GlusterfsVolumeSource",
        "persistentVolumeClaim": "core.PersistentVolumeClaimVolumeSource", "rbd": "core.RBDVolumeSource",
        "flexVolume": "core.FlexVolumeSource", "cinder": "core.CinderVolumeSource",
        "cephfs": "core.CephFSVolumeSource", "flocker": "core.FlockerVolumeSource",
        "downwardAPI": "core.DownwardAPIVolumeSource", "fc": "core.FCVolumeSource",
        "azureFile": "core.AzureFileVolumeSource", "configMap": "core.ConfigMapVolumeSource",
        "vsphereVolume": "core.VsphereVirtualDiskVolumeSource", "quobyte": "core.QuobyteVolumeSource",
        "azureDisk": "core.AzureDiskVolumeSource",
        "photonPersistentDisk": "core.PhotonPersistentDiskVolumeSource",
        "projected": "core.ProjectedVolumeSource", "portworxVolume": "core.PortworxVolumeSource",
        "scaleIO": "core.ScaleIOVolumeSource", "storageos": "core.StorageOSVolumeSource",
        "csi": "core.CSIVolumeSource", "ephemeral": "core.EphemeralVolumeSource",
        "image": "core.ImageVolumeSource",
    },
    "core.VolumeDevice": {
        "name": "string", "devicePath": "string",
    },
    "core.VolumeMount": {
        "name": "string", "readOnly": "bool", "recursiveReadOnly": "string", "mountPath": "string",
        "subPath": "string", "mountPropagation": "string", "subPathExpr": "string",
    },
    "core.VolumeProjection": {
        "secret": "core.SecretProjection", "downwardAPI": "core.DownwardAPIProjection",
        "configMap": "core.ConfigMapProjection", "serviceAccountToken": "core.ServiceAccountTokenProjection",
        "clusterTrustBundle": "core.ClusterTrustBundleProjection",
        "podCertificate": "core.PodCertificateProjection",
    },
    "core.VolumeResourceRequirements": {
        "limits": "map !Quantity", "requests": "map !Quantity",
    },
    "core.VsphereVirtualDiskVolumeSource": {
        "volumePath": "string", "fsType": "string", "storagePolicyName": "string",
        "storagePolicyID": "string",
    },
    "core.WeightedPodAffinityTerm": {
        "weight": "int32", "podAffinityTerm": "core.PodAffinityTerm",
    },
    "core.WindowsSecurityContextOptions": {
        "gmsaCredentialSpecName": "string", "gmsaCredentialSpec": "string", "runAsUserName": "string",
        "hostProcess": "bool",
    },
    "meta.GroupVersionKind": {
        "group": "string", "version": "string", "kind": "string",
    },
    "meta.LabelSelector": {
        "matchLabels": "map string", "matchExpressions": "[]meta.LabelSelectorRequirement",
    },
    "meta.LabelSelectorRequirement": {
        "key": "string", "operator": "string", "values": "[]string",
    },
    "meta.ManagedFieldsEntry": {
        "manager": "string", "operation": "string", "apiVersion": "string", "time": "!Time",
        "fieldsType": "string", "fieldsV1": "!FieldsV1", "subresource": "string",
    },
    "meta.ObjectMeta": {
        "name": "string", "generateName": "string", "namespace": "string", "selfLink": "string",
        "uid": "string", "resourceVersion": "string", "generation": "int64", "creationTimestamp": "!Time",
        "deletionTimestamp": "!Time", "deletionGracePeriodSeconds": "int64", "labels": "map string",
        "annotations": "map string", "ownerReferences": "[]meta.OwnerReference", "finalizers": "[]string",
        "managedFields": "[]meta.ManagedFieldsEntry",
    },
    "meta.OwnerReference": {
        "apiVersion": "string", "kind": "string", "name": "string", "uid": "string", "controller": "bool",
        "blockOwnerDeletion": "bool",
    },
    "rbac.PolicyRule": {
        "verbs": "[]string", "apiGroups": "[]string", "resources": "[]string", "resourceNames": "[]string",
        "nonResourceURLs": "[]string",
    },
    "v1alpha1.APIResourceReference": {
        "name": "string", "kind": "string", "version": "string",
    },
    "v1alpha1.APIServiceDefinitions": {
        "owned": "[]v1alpha1.APIServiceDescription", "required": "[]v1alpha1.APIServiceDescription",
    },
    "v1alpha1.APIServiceDescription": {
        "name": "string", "group": "string", "version": "string", "kind": "string",
        "deploymentName": "string", "containerPort": "int32", "displayName": "string",
        "description": "string", "resources": "[]v1alpha1.APIResourceReference",
        "statusDescriptors": "[]v1alpha1.StatusDescriptor", "specDescriptors": "[]v1alpha1.SpecDescriptor",
        "actionDescriptors": "[]v1alpha1.ActionDescriptor",
    },
    "v1alpha1.ActionDescriptor": {
        "path": "string", "displayName": "string", "description": "string", "x-descriptors": "[]string",
        "value": "any",
    },
    "v1alpha1.AppLink": {
        "name": "string", "url": "string",
    },
    "v1alpha1.CRDDescription": {
        "name": "string", "version": "string", "kind": "string", "displayName": "string",
        "description": "string", "resources": "[]v1alpha1.APIResourceReference",
        "statusDescriptors": "[]v1alpha1.StatusDescriptor", "specDescriptors": "[]v1alpha1.SpecDescriptor",
        "actionDescriptors": "[]v1alpha1.ActionDescriptor",
    },
    "v1alpha1.CleanupSpec": {
        "enabled": "bool",
    },
    "v1alpha1.CleanupStatus": {
        "pendingDeletion": "[]v1alpha1.ResourceList",
    },
    "v1alpha1.ClusterServiceVersion": {
        "kind": "string", "apiVersion": "string", "metadata": "meta.ObjectMeta",
        "spec": "v1alpha1.ClusterServiceVersionSpec", "status": "v1alpha1.ClusterServiceVersionStatus",
    },
    "v1alpha1.ClusterServiceVersionCondition": {
        "phase": "string", "message": "string", "reason": "string", "lastUpdateTime": "!Time",
        "lastTransitionTime": "!Time",
    },
    "v1alpha1.ClusterServiceVersionSpec": {
        "install": "v1alpha1.NamedInstallStrategy", "version": "!OperatorVersion",
        "release": "!OperatorRelease", "maturity": "string",
        "customresourcedefinitions": "v1alpha1.CustomResourceDefinitions",
        "apiservicedefinitions": "v1alpha1.APIServiceDefinitions",
        "webhookdefinitions": "[]v1alpha1.WebhookDescription", "nativeAPIs": "[]meta.GroupVersionKind",
        "minKubeVersion": "string", "displayName": "string", "description": "string", "keywords": "[]string",
        "maintainers": "[]v1alpha1.Maintainer", "provider": "v1alpha1.AppLink", "links": "[]v1alpha1.AppLink",
        "icon": "[]v1alpha1.Icon", "installModes": "[]v1alpha1.InstallMode", "replaces": "string",
        "labels": "map string", "annotations": "map string", "selector": "meta.LabelSelector",
        "cleanup": "v1alpha1.CleanupSpec", "skips": "[]string", "relatedImages": "[]v1alpha1.RelatedImage",
    },
    "v1alpha1.ClusterServiceVersionStatus": {
        "phase": "string", "message": "string", "reason": "string", "lastUpdateTime": "!Time",
        "lastTransitionTime": "!Time", "conditions": "[]v1alpha1.ClusterServiceVersionCondition",
        "requirementStatus": "[]v1alpha1.RequirementStatus", "certsLastUpdated": "!Time",
        "certsRotateAt": "!Time", "cleanup": "v1alpha1.CleanupStatus",
    },
    "v1alpha1.CustomResourceDefinitions": {
        "owned": "[]v1alpha1.CRDDescription", "required": "[]v1alpha1.CRDDescription",
    },
    "v1alpha1.DependentStatus": {
        "group": "string", "version": "string", "kind": "string", "status": "string", "uuid": "string",
        "message": "string",
    },
    "v1alpha1.Icon": {
        "base64data": "string", "mediatype": "string",
    },
    "v1alpha1.InstallMode": {
        "type": "string", "supported": "bool",
    },
    "v1alpha1.Maintainer": {
        "name": "string", "email": "string",
    },
    "v1alpha1.NamedInstallStrategy": {
        "strategy": "string", "spec": "v1alpha1.StrategyDetailsDeployment",
    },
    "v1alpha1.RelatedImage": {
        "name": "string", "image": "string",
    },
    "v1alpha1.RequirementStatus": {
        "group": "string", "version": "string", "kind": "string", "name": "string", "status": "string",
        "message": "string", "uuid": "string", "dependents": "[]v1alpha1.DependentStatus",
    },
    "v1alpha1.ResourceInstance": {
        "name": "string", "namespace": "string",
    },
    "v1alpha1.ResourceList": {
        "group": "string", "kind": "string", "instances": "[]v1alpha1.ResourceInstance",
    },
    "v1alpha1.SpecDescriptor": {
        "path": "string", "displayName": "string", "description": "string", "x-descriptors": "[]string",
        "value": "any",
    },
    "v1alpha1.StatusDescriptor": {
        "path": "string", "displayName": "string", "description": "string", "x-descriptors": "[]string",
        "value": "any",
    },
    "v1alpha1.StrategyDeploymentPermissions": {
        "serviceAccountName": "string", "rules": "[]rbac.PolicyRule",
    },
    "v1alpha1.StrategyDeploymentSpec": {
        "name": "string", "spec": "apps.DeploymentSpec", "label": "map string",
    },
    "v1alpha1.StrategyDetailsDeployment": {
        "deployments": "[]v1alpha1.StrategyDeploymentSpec",
        "permissions": "[]v1alpha1.StrategyDeploymentPermissions",
        "clusterPermissions": "[]v1alpha1.StrategyDeploymentPermissions",
    },
    "v1alpha1.WebhookDescription": {
        "generateName": "string", "type": "string", "deploymentName": "string", "containerPort": "int32",
        "targetPort": "!IntOrString", "rules": "[]admissionregistration.RuleWithOperations",
        "failurePolicy": "string", "matchPolicy": "string", "objectSelector": "meta.LabelSelector",
        "sideEffects": "string", "timeoutSeconds": "int32", "admissionReviewVersions": "[]string",
        "reinvocationPolicy": "string", "webhookPath": "string", "conversionCRDs": "[]string",
    },
    "v1beta1.CustomResourceColumnDefinition": {
        "name": "string", "type": "string", "format": "string", "description": "string", "priority": "int32",
        "JSONPath": "string",
    },
    "v1beta1.CustomResourceConversion": {
        "strategy": "string", "webhookClientConfig": "v1beta1.WebhookClientConfig",
        "conversionReviewVersions": "[]string",
    },
    "v1beta1.CustomResourceDefinition": {
        "kind": "string", "apiVersion": "string", "metadata": "meta.ObjectMeta",
        "spec": "v1beta1.CustomResourceDefinitionSpec", "status": "v1beta1.CustomResourceDefinitionStatus",
    },
    "v1beta1.CustomResourceDefinitionCondition": {
        "type": "string", "status": "string", "lastTransitionTime": "!Time", "reason": "string",
        "message": "string", "observedGeneration": "int64",
    },
    "v1beta1.CustomResourceDefinitionNames": {
        "plural": "string", "singular": "string", "shortNames": "[]string", "kind": "string",
        "listKind": "string", "categories": "[]string",
    },
    "v1beta1.CustomResourceDefinitionSpec": {
        "group": "string", "version": "string", "names": "v1beta1.CustomResourceDefinitionNames",
        "scope": "string", "validation": "v1beta1.CustomResourceValidation",
        "subresources": "v1beta1.CustomResourceSubresources",
        "versions": "[]v1beta1.CustomResourceDefinitionVersion",
        "additionalPrinterColumns": "[]v1beta1.CustomResourceColumnDefinition",
        "selectableFields": "[]v1beta1.SelectableField", "conversion": "v1beta1.CustomResourceConversion",
        "preserveUnknownFields": "bool",
    },
    "v1beta1.CustomResourceDefinitionStatus": {
        "conditions": "[]v1beta1.CustomResourceDefinitionCondition",
        "acceptedNames": "v1beta1.CustomResourceDefinitionNames", "storedVersions": "[]string",
        "observedGeneration": "int64",
    },
    "v1beta1.CustomResourceDefinitionVersion": {
        "name": "string", "served": "bool", "storage": "bool", "deprecated": "bool",
        "deprecationWarning": "string", "schema": "v1beta1.CustomResourceValidation",
        "subresources": "v1beta1.CustomResourceSubresources",
        "additionalPrinterColumns": "[]v1beta1.CustomResourceColumnDefinition",
        "selectableFields": "[]v1beta1.SelectableField",
    },
    "v1beta1.CustomResourceSubresourceScale": {
        "specReplicasPath": "string", "statusReplicasPath": "string", "labelSelectorPath": "string",
    },
    "v1beta1.CustomResourceSubresourceStatus": {},
    "v1beta1.CustomResourceSubresources": {
        "status": "v1beta1.CustomResourceSubresourceStatus",
        "scale": "v1beta1.CustomResourceSubresourceScale",
    },
    "v1beta1.CustomResourceValidation": {
        "openAPIV3Schema": "v1beta1.JSONSchemaProps",
    },
    "v1beta1.ExternalDocumentation": {
        "description": "string", "url": "string",
    },
    "v1beta1.JSONSchemaProps": {
        "id": "string", "$schema": "string", "$ref": "string", "description": "string", "type": "string",
        "format": "string", "title": "string", "default": "!JSON", "maximum": "float64",
        "exclusiveMaximum": "bool", "minimum": "float64", "exclusiveMinimum": "bool", "maxLength": "int64",
        "minLength": "int64", "pattern": "string", "maxItems": "int64", "minItems": "int64",
        "uniqueItems": "bool", "multipleOf": "float64", "enum": "[]!JSON", "maxProperties": "int64",
        "minProperties": "int64", "required": "[]string", "items": "!JSONSchemaPropsOrArray",
        "allOf": "[]v1beta1.JSONSchemaProps", "oneOf": "[]v1beta1.JSONSchemaProps",
        "anyOf": "[]v1beta1.JSONSchemaProps", "not": "v1beta1.JSONSchemaProps",
        "properties": "map v1beta1.JSONSchemaProps", "additionalProperties": "!JSONSchemaPropsOrBool",
        "patternProperties": "map v1beta1.JSONSchemaProps",
        "dependencies": "map !JSONSchemaPropsOrStringArray", "additionalItems": "!JSONSchemaPropsOrBool",
        "definitions": "map v1beta1.JSONSchemaProps", "externalDocs": "v1beta1.ExternalDocumentation",
        "example": "!JSON", "nullable": "bool", "x-kubernetes-preserve-unknown-fields": "bool",
        "x-kubernetes-embedded-resource": "bool", "x-kubernetes-int-or-string": "bool",
        "x-kubernetes-list-map-keys": "[]string", "x-kubernetes-list-type": "string",
        "x-kubernetes-map-type": "string", "x-kubernetes-validations": "[]v1beta1.ValidationRule",
    },
    "v1beta1.SelectableField": {
        "jsonPath": "string",
    },
    "v1beta1.ServiceReference": {
        "namespace": "string", "name": "string", "path": "string", "port": "int32",
    },
    "v1beta1.ValidationRule": {
        "rule": "string", "message": "string", "messageExpression": "string", "reason": "string",
        "fieldPath": "string", "optionalOldSelf": "bool",
    },
    "v1beta1.WebhookClientConfig": {
        "url": "string", "service": "v1beta1.ServiceReference", "caBundle": "bytes",
    },
}
# fmt: on
