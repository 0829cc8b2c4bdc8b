"""The files of `operator-sdk init` and `operator-sdk create api` that a bundle is generated from.

As in operator-sdk 1.39 (go/v4): the same files, names and kinds, with a shorter schema.
"""

from __future__ import annotations

__all__ = ["write_project", "write_webhook"]

from collections.abc import Mapping
from pathlib import Path
from typing import Final

_LABELS: Final = """\
  labels:
    app.kubernetes.io/name: memcached-operator
    app.kubernetes.io/managed-by: kustomize
"""


def _role(name: str, rules: str, kind: str = "ClusterRole") -> str:
    return (
        f"apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\nmetadata:\n{_LABELS}  name: {name}\n{rules}"
    )


def _binding(name: str, role: str, kind: str = "ClusterRole") -> str:
    return _role(
        name,
        f"roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {kind}, name: {role}}}\n"
        "subjects:\n- kind: ServiceAccount\n  name: controller-manager\n  namespace: system\n",
        f"{kind}Binding",
    )


def _rules(groups: str, resources: str, verbs: str) -> str:
    return f"rules:\n- apiGroups: [{groups}]\n  resources: [{resources}]\n  verbs: [{verbs}]\n"


_EVERY_VERB: Final = "create, delete, get, list, patch, update, watch"

_FILES: Final = {
    "PROJECT": """\
domain: example.com
layout:
- go.kubebuilder.io/v4
plugins:
  manifests.sdk.operatorframework.io/v2: {}
  scorecard.sdk.operatorframework.io/v2: {}
projectName: memcached-operator
repo: github.com/example/memcached-operator
resources:
- api: {crdVersion: v1, namespaced: true}
  controller: true
  domain: example.com
  group: cache
  kind: Memcached
  version: v1alpha1
version: "3"
""",
    "Makefile": """\
VERSION ?= 0.0.1
ifneq ($(origin CHANNELS), undefined)
BUNDLE_CHANNELS := --channels=$(CHANNELS)
endif
IMAGE_TAG_BASE ?= example.com/memcached-operator
BUNDLE_IMG ?= $(IMAGE_TAG_BASE)-bundle:v$(VERSION)
IMG ?= controller:latest
""",
    "config/manifests/bases/memcached-operator.clusterserviceversion.yaml": """\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  annotations:
    alm-examples: '[]'
    capabilities: Basic Install
  name: memcached-operator.v0.0.0
  namespace: placeholder
spec:
  apiservicedefinitions: {}
  customresourcedefinitions:
    owned:
    - description: Memcached is the Schema for the memcacheds API
      displayName: Memcached
      kind: Memcached
      name: memcacheds.cache.example.com
      version: v1alpha1
  description: Memcached Operator description. TODO.
  displayName: Memcached Operator
  icon:
  - base64data: ""
    mediatype: ""
  install:
    spec:
      deployments: null
    strategy: ""
  installModes:
  - supported: false
    type: OwnNamespace
  - supported: false
    type: SingleNamespace
  - supported: false
    type: MultiNamespace
  - supported: true
    type: AllNamespaces
  keywords:
  - memcached-operator
  links:
  - name: Memcached Operator
    url: https://memcached-operator.domain
  maintainers:
  - email: your@email.com
    name: Maintainer Name
  maturity: alpha
  provider:
    name: Provider Name
    url: https://your.domain
  version: 0.0.0
""",
    "config/manifests/kustomization.yaml": "resources: [bases, ../default, ../samples, ../scorecard]\n",
    "config/crd/bases/cache.example.com_memcacheds.yaml": """\
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.16.1
  name: memcacheds.cache.example.com
spec:
  group: cache.example.com
  names:
    kind: Memcached
    listKind: MemcachedList
    plural: memcacheds
    singular: memcached
  scope: Namespaced
  versions:
  - name: v1alpha1
    schema:
      openAPIV3Schema:
        description: Memcached is the Schema for the memcacheds API.
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          metadata: {type: object}
          spec:
            description: MemcachedSpec defines the desired state of Memcached.
            properties:
              foo:
                description: Foo is an example field of Memcached. Edit memcached_types.go to remove/update
                type: string
            type: object
          status:
            description: MemcachedStatus defines the observed state of Memcached.
            type: object
        type: object
    served: true
    storage: true
    subresources:
      status: {}
""",
    "config/crd/kustomization.yaml": """\
resources:
- bases/cache.example.com_memcacheds.yaml
# +kubebuilder:scaffold:crdkustomizeresource
patches: []
""",
    "config/crd/kustomizeconfig.yaml": "nameReference:\n- kind: Service\n  version: v1\n",
    "config/default/kustomization.yaml": """\
namespace: memcached-operator-system
namePrefix: memcached-operator-
resources:
- ../crd
- ../rbac
- ../manager
- metrics_service.yaml
patches:
- path: manager_metrics_patch.yaml
  target:
    kind: Deployment
""",
    "config/default/manager_metrics_patch.yaml": """\
- op: add
  path: /spec/template/spec/containers/0/args/0
  value: --metrics-bind-address=:8443
""",
    "config/default/metrics_service.yaml": """\
apiVersion: v1
kind: Service
metadata:
  name: controller-manager-metrics-service
  namespace: system
spec:
  ports:
  - {name: https, port: 8443, protocol: TCP, targetPort: 8443}
  selector:
    control-plane: controller-manager
""",
    "config/manager/kustomization.yaml": "resources:\n- manager.yaml\n",
    "config/manager/manager.yaml": f"""\
apiVersion: v1
kind: Namespace
metadata:
{_LABELS}  name: system
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: controller-manager
  namespace: system
  labels:
    control-plane: controller-manager
    app.kubernetes.io/name: memcached-operator
    app.kubernetes.io/managed-by: kustomize
spec:
  selector:
    matchLabels:
      control-plane: controller-manager
  replicas: 1
  template:
    metadata:
      annotations:
        kubectl.kubernetes.io/default-container: manager
      labels:
        control-plane: controller-manager
    spec:
      securityContext:
        runAsNonRoot: true
      containers:
      - command:
        - /manager
        args:
          - --leader-elect
          - --health-probe-bind-address=:8081
        image: controller:latest
        name: manager
        securityContext:
          allowPrivilegeEscalation: false
          capabilities:
            drop:
            - "ALL"
        livenessProbe:
          httpGet: {{path: /healthz, port: 8081}}
          initialDelaySeconds: 15
          periodSeconds: 20
        readinessProbe:
          httpGet: {{path: /readyz, port: 8081}}
          initialDelaySeconds: 5
          periodSeconds: 10
        resources:
          limits: {{cpu: 500m, memory: 128Mi}}
          requests: {{cpu: 10m, memory: 64Mi}}
      serviceAccountName: controller-manager
      terminationGracePeriodSeconds: 10
""",
    "config/rbac/kustomization.yaml": """\
resources:
- service_account.yaml
- role.yaml
- role_binding.yaml
- leader_election_role.yaml
- leader_election_role_binding.yaml
- metrics_auth_role.yaml
- metrics_auth_role_binding.yaml
- metrics_reader_role.yaml
- memcached_editor_role.yaml
- memcached_viewer_role.yaml
""",
    "config/rbac/service_account.yaml": f"""\
apiVersion: v1
kind: ServiceAccount
metadata:
{_LABELS}  name: controller-manager
  namespace: system
""",
    "config/rbac/role.yaml": _role(
        "manager-role", _rules("cache.example.com", "memcacheds, memcacheds/status", _EVERY_VERB)
    ),
    "config/rbac/role_binding.yaml": _binding("manager-rolebinding", "manager-role"),
    "config/rbac/leader_election_role.yaml": _role(
        "leader-election-role", _rules("coordination.k8s.io", "leases", _EVERY_VERB), "Role"
    ),
    "config/rbac/leader_election_role_binding.yaml": _binding(
        "leader-election-rolebinding", "leader-election-role", "Role"
    ),
    "config/rbac/metrics_auth_role.yaml": _role(
        "metrics-auth-role", _rules("authentication.k8s.io", "tokenreviews", "create")
    ),
    "config/rbac/metrics_auth_role_binding.yaml": _binding("metrics-auth-rolebinding", "metrics-auth-role"),
    "config/rbac/metrics_reader_role.yaml": _role(
        "metrics-reader", 'rules:\n- nonResourceURLs: ["/metrics"]\n  verbs: [get]\n'
    ),
    "config/rbac/memcached_editor_role.yaml": _role(
        "memcached-editor-role", _rules("cache.example.com", "memcacheds", _EVERY_VERB)
    ),
    "config/rbac/memcached_viewer_role.yaml": _role(
        "memcached-viewer-role", _rules("cache.example.com", "memcacheds", "get, list, watch")
    ),
    "config/samples/cache_v1alpha1_memcached.yaml": f"""\
apiVersion: cache.example.com/v1alpha1
kind: Memcached
metadata:
{_LABELS}  name: memcached-sample
spec:
  # TODO(user): Add fields here
""",
    "config/samples/kustomization.yaml": "resources:\n- cache_v1alpha1_memcached.yaml\n",
    "config/scorecard/bases/config.yaml": """\
apiVersion: scorecard.operatorframework.io/v1alpha3
kind: Configuration
metadata:
  name: config
stages:
- parallel: true
  tests: []
""",
    "config/scorecard/kustomization.yaml": """\
resources:
- bases/config.yaml
patches:
- path: patches/basic.config.yaml
  target: {group: scorecard.operatorframework.io, kind: Configuration, name: config, version: v1alpha3}
- path: patches/olm.config.yaml
  target: {group: scorecard.operatorframework.io, kind: Configuration, name: config, version: v1alpha3}
""",
    "config/scorecard/patches/basic.config.yaml": """\
- op: add
  path: /stages/0/tests/-
  value:
    entrypoint: [scorecard-test, basic-check-spec]
    image: quay.io/operator-framework/scorecard-test:v1.39.2
    labels: {suite: basic, test: basic-check-spec-test}
""",
    "config/scorecard/patches/olm.config.yaml": """\
- op: add
  path: /stages/0/tests/-
  value:
    entrypoint: [scorecard-test, olm-bundle-validation]
    image: quay.io/operator-framework/scorecard-test:v1.39.2
    labels: {suite: olm, test: olm-bundle-validation-test}
""",
}


#: The files that `operator-sdk create webhook --programmatic-validation` adds.
_WEBHOOK: Final = {
    "config/webhook/kustomization.yaml": """\
resources:
- manifests.yaml
- service.yaml
configurations:
- kustomizeconfig.yaml
""",
    "config/webhook/kustomizeconfig.yaml": "nameReference:\n- kind: Service\n  version: v1\n",
    "config/webhook/service.yaml": """\
apiVersion: v1
kind: Service
metadata:
  name: webhook-service
  namespace: system
spec:
  ports:
  - {port: 443, protocol: TCP, targetPort: 9443}
  selector:
    control-plane: controller-manager
""",
    "config/webhook/manifests.yaml": """\
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating-webhook-configuration
webhooks:
- admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: webhook-service
      namespace: system
      path: /validate-cache-example-com-v1alpha1-memcached
  failurePolicy: Fail
  name: vmemcached-v1alpha1.kb.io
  rules:
  - apiGroups: [cache.example.com]
    apiVersions: [v1alpha1]
    operations: [CREATE, UPDATE]
    resources: [memcacheds]
  sideEffects: None
""",
}


def write_project(root: Path) -> None:
    """Write all files below a folder."""
    _write(root, _FILES)


def write_webhook(root: Path) -> None:
    """Write all files with a validating webhook."""
    _write(root, _FILES | _WEBHOOK)


def _write(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
