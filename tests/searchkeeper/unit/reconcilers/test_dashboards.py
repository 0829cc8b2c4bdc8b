"""Manifests of Dashboards: the engine they connect to, their credentials and their Service."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.dashboards import dashboards_deployment, dashboards_service
from searchkeeper.images import Images

VERSIONS = (1, 2, 3, 4)
TLS = {"tlsSecret": "certificates"}
USERS = {**TLS, "credentialsSecret": "admin"}


def desired(version: int, security: dict[str, str] | None = None) -> DesiredCluster:
    pools = [{"name": "nodes", "roles": ["cluster_manager", "data"], "replicas": 3}]
    written = {
        "version": "3.4.0",
        "pools": pools,
        "dashboards": {"enabled": True},
        "security": security or {},
    }
    return DesiredCluster(
        "logs", "search", "uid", decode_cluster_spec(written), version, (("password", "Yg=="),)
    )


def pod(cluster: DesiredCluster) -> dict[str, Any]:
    found: dict[str, Any] = dashboards_deployment(cluster, "3.4.0")["spec"]["template"]["spec"]
    return found


def variables(cluster: DesiredCluster) -> dict[str, Any]:
    env = pod(cluster)["containers"][0]["env"]
    return {each["name"]: each.get("value") or each["valueFrom"]["secretKeyRef"] for each in env}


@pytest.mark.parametrize("version", VERSIONS)
def test_service_selects_the_dashboards_pods(version: int) -> None:
    cluster = desired(version)
    made, template = dashboards_service(cluster), dashboards_deployment(cluster, "3.4.0")["spec"]["template"]
    assert made["metadata"]["name"] == "logs-dashboards"
    assert made["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    [port], [listening] = made["spec"]["ports"], template["spec"]["containers"][0]["ports"]
    assert port["port"] == listening["containerPort"] == 5601


@pytest.mark.parametrize("version", VERSIONS)
def test_dashboards_pods_have_no_engine_labels(version: int) -> None:
    cluster = desired(version)
    labels = dashboards_deployment(cluster, "3.4.0")["spec"]["template"]["metadata"]["labels"]
    assert not cluster.labels().items() <= labels.items()


def test_without_certificates_dashboards_use_http_and_no_login() -> None:
    assert variables(desired(4)) == {
        "OPENSEARCH_HOSTS": "http://logs.search.svc:9200",
        "DISABLE_SECURITY_DASHBOARDS_PLUGIN": "true",
    }
    assert "volumes" not in pod(desired(4))


def test_with_certificates_dashboards_mount_only_the_ca() -> None:
    cluster = desired(4, TLS)
    given = variables(cluster)
    assert given["OPENSEARCH_HOSTS"] == "https://logs.search.svc:9200"
    assert given["OPENSEARCH_SSL_VERIFICATIONMODE"] == "full"
    [mount] = pod(cluster)["containers"][0]["volumeMounts"]
    assert given["OPENSEARCH_SSL_CERTIFICATEAUTHORITIES"] == f"{mount['mountPath']}/ca.crt"
    [volume] = pod(cluster)["volumes"]
    assert volume["secret"]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]


@pytest.mark.parametrize("version", VERSIONS)
def test_with_credentials_dashboards_authenticate(version: int) -> None:
    given = variables(desired(version, USERS))
    ours = "logs-config" if version == 1 else "logs-credentials"
    assert given["OPENSEARCH_USERNAME"] == {"name": ours, "key": "username"}
    assert given["OPENSEARCH_PASSWORD"] == {"name": ours, "key": "password"}
    assert "DISABLE_SECURITY_DASHBOARDS_PLUGIN" not in given


def test_changed_credentials_change_the_pod_template() -> None:
    before = desired(4, USERS)
    after = replace(before, credentials=(("password", "Yw=="),))
    templates = [dashboards_deployment(each, "3.4.0")["spec"]["template"] for each in (before, after)]
    assert templates[0]["metadata"]["annotations"] != templates[1]["metadata"]["annotations"]


def test_dashboards_image_comes_from_the_configured_registry() -> None:
    mirrored = replace(desired(4), images=Images(dashboards="mirror.example.com/dashboards"))
    assert pod(mirrored)["containers"][0]["image"] == "mirror.example.com/dashboards:3.4.0"
