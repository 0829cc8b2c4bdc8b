"""`podTemplate`: what the operator sets is refused by name, also where the API server accepts it."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.api.pod_template import DASHBOARDS, NODES, ManagedPod
from searchkeeper.api.validation import schema_errors, spec_errors
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.dashboards import dashboards_deployment
from searchkeeper.desired.manifests import stateful_set

POOL = {"name": "all", "roles": ["cluster_manager", "data"], "replicas": 3}
SECURITY = {"tlsSecret": "tls", "credentialsSecret": "admin"}
FREE: dict[str, Any] = {
    "metadata": {"labels": {"team": "search"}, "annotations": {"prometheus.io/scrape": "true"}},
    "spec": {
        "affinity": {"nodeAffinity": {}},
        "containers": [
            {
                "name": "opensearch",
                "env": [{"name": "OPENSEARCH_JAVA_OPTS", "value": "-Xmx2g"}],
                "resources": {"limits": {"memory": "4Gi"}},
                "volumeMounts": [{"name": "words", "mountPath": "/usr/share/opensearch/config/words"}],
            },
            {"name": "shipper", "image": "shipper:1"},
        ],
        "initContainers": [{"name": "sysctl", "image": "busybox"}],
        "nodeSelector": {"disk": "ssd"},
        "securityContext": {},
        "volumes": [{"name": "words", "configMap": {"name": "words"}}],
    },
}


def manifest(template: Any, dashboards: Any = None) -> dict[str, Any]:
    spec = {
        "version": "2.19.4",
        "pools": [{**POOL, "podTemplate": template}],
        "dashboards": {"podTemplate": dashboards} if dashboards else {},
    }
    kind = {"apiVersion": "search.everpath.dev/v1alpha1", "kind": "SearchCluster"}
    return {**kind, "metadata": {"name": "logs"}, "spec": spec}


def container(**parts: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "opensearch", **parts}]}}


def variable(name: str) -> dict[str, Any]:
    return container(env=[{"name": name, "value": "x"}])


def mount(path: str) -> dict[str, Any]:
    return container(volumeMounts=[{"name": "x", "mountPath": path}])


SUPPORTED = "env, livenessProbe, name, resources, securityContext, startupProbe, volumeMounts"
OWN_NAME = "Forbidden: the operator sets it: use another name"


def test_supported_fields_are_accepted() -> None:
    assert schema_errors(manifest(FREE)) == spec_errors(manifest(FREE)) == []


SET = f"Forbidden: the operator sets it; supported are {SUPPORTED}"
HIDES = "Forbidden: it would hide /usr/share/opensearch/{}: mount a file or a folder beside it"
SETTING = "Forbidden: the image takes it for a setting of OpenSearch: write it in config"
TAKEN = 'Forbidden: "{}" is a name of the operator: use another one'
LISTED = "Invalid value: must be a list of objects, each with a {}"
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    (container(image="mine"), "spec.containers[0].image", SET),
    (container(command=["sh"]), "spec.containers[0].command", SET),
    (container(readinessProbe={}), "spec.containers[0].readinessProbe", SET),
    (container(ports=[]), "spec.containers[0].ports", SET),
    (
        variable("DISABLE_SECURITY_PLUGIN"),
        "spec.containers[0].env[0].name",
        'Forbidden: the operator sets "DISABLE_SECURITY_PLUGIN"',
    ),
    (variable("node.attr.zone"), "spec.containers[0].env[0].name", SETTING),
    (
        mount("/usr/share/opensearch/data/"),
        "spec.containers[0].volumeMounts[0].mountPath",
        HIDES.format("data"),
    ),
    (
        mount("/usr/share/opensearch/config"),
        "spec.containers[0].volumeMounts[0].mountPath",
        HIDES.format("config/certificates"),
    ),
    (mount("/"), "spec.containers[0].volumeMounts[0].mountPath", HIDES.format("config/certificates")),
    (container(env={"name": "x"}), "spec.containers[0].env", LISTED.format("name")),
    (
        container(volumeMounts=[{"name": "x"}]),
        "spec.containers[0].volumeMounts",
        LISTED.format("mountPath"),
    ),
    (
        {"spec": {"containers": [{"name": "a"}, {"name": "a"}]}},
        "spec.containers[1].name",
        'Duplicate value: "a"',
    ),
    ({"spec": {"volumes": [{"name": "data"}]}}, "spec.volumes[0].name", TAKEN.format("data")),
    ({"spec": {"initContainers": [{"name": "users"}]}}, "spec.initContainers[0].name", TAKEN.format("users")),
    (
        {"metadata": {"labels": {"app.kubernetes.io/name": "mine"}}},
        "metadata.labels.app.kubernetes.io/name",
        OWN_NAME,
    ),
    (
        {"metadata": {"annotations": {"search.everpath.dev/template": "x"}}},
        "metadata.annotations.search.everpath.dev/template",
        OWN_NAME,
    ),
]


@pytest.mark.parametrize(("template", "path", "message"), REFUSED)
def test_what_the_operator_sets_is_refused_by_name(template: dict[str, Any], path: str, message: str) -> None:
    error = f"spec.pools[0].podTemplate.{path}: {message}"
    assert [str(each) for each in schema_errors(manifest(template))] == [error]
    assert [str(each) for each in spec_errors(manifest(template))] == [error]


@pytest.mark.parametrize("name", ["hostNetwork", "hostPID", "restartPolicy", "hostname", "subdomain"])
def test_unsupported_fields_of_a_pod_are_unknown_and_refused(name: str) -> None:
    """The API server drops them, and kubectl reports them. An older CRD may have kept them."""
    template, path = {"spec": {name: "x"}}, f"spec.pools[0].podTemplate.spec.{name}"
    [unknown], [refused] = schema_errors(manifest(template)), spec_errors(manifest(template))
    assert str(unknown).startswith(f"{path}: unknown field")
    assert str(refused).startswith(f"{path}: Forbidden: not supported; supported are affinity, ")


def test_dashboards_have_names_of_their_own() -> None:
    template = {"spec": {"containers": [{"name": "dashboards", "env": [{"name": "OPENSEARCH_HOSTS"}]}]}}
    [error] = spec_errors(manifest(None, template))
    assert str(error) == (
        "spec.dashboards.podTemplate.spec.containers[0].env[0].name: "
        'Forbidden: the operator sets "OPENSEARCH_HOSTS"'
    )


def deployed_templates(security: dict[str, str], ephemeral: bool) -> list[tuple[dict[str, Any], ManagedPod]]:
    raw = {
        "version": "2.19.4",
        "pools": [{**POOL, "storage": {"ephemeral": ephemeral}}],
        "security": security,
    }
    cluster = DesiredCluster("logs", "search", "uid", decode_cluster_spec(raw), 5)
    nodes = stateful_set(cluster, cluster.spec.pools[0], "2.19.4", None)
    dashboards = dashboards_deployment(cluster, "2.19.4")
    return [(nodes["spec"]["template"], NODES), (dashboards["spec"]["template"], DASHBOARDS)]


@pytest.mark.parametrize("security", [{}, {"tlsSecret": "tls"}, SECURITY], ids=["open", "tls", "users"])
@pytest.mark.parametrize("ephemeral", [False, True], ids=["volumes", "ephemeral"])
def test_every_name_that_the_operator_sets_is_refused(security: dict[str, str], ephemeral: bool) -> None:
    for template, managed in deployed_templates(security, ephemeral):
        [container] = template["spec"]["containers"]
        assert container["name"] == managed.container
        assert {each["name"] for each in container["env"] if "." not in each["name"]} <= managed.variables
        assert {each["mountPath"] for each in container.get("volumeMounts", ())} <= managed.mount_paths
        assert {each["name"] for each in template["spec"].get("volumes", ())} <= managed.volumes
        inits = {each["name"] for each in template["spec"].get("initContainers", ())}
        assert inits <= managed.init_containers
        for label in template["metadata"]["labels"]:
            own = {"metadata": {"labels": {label: "x"}}}
            assert spec_errors(manifest(own)), label
