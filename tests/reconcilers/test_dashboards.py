"""Dashboards know where the engine is and how it is entered, and people find them."""

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


def deployed(version: int, security: dict[str, str] | None = None) -> DesiredCluster:
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


def pod(this: DesiredCluster) -> dict[str, Any]:
    found: dict[str, Any] = dashboards_deployment(this, "3.4.0")["spec"]["template"]["spec"]
    return found


def variables(this: DesiredCluster) -> dict[str, Any]:
    env = pod(this)["containers"][0]["env"]
    return {each["name"]: each.get("value") or each["valueFrom"]["secretKeyRef"] for each in env}


@pytest.mark.parametrize("version", VERSIONS)
def test_people_find_them_by_a_service(version: int) -> None:
    this = deployed(version)
    made, template = dashboards_service(this), dashboards_deployment(this, "3.4.0")["spec"]["template"]
    assert made["metadata"]["name"] == "logs-dashboards"
    assert made["spec"]["selector"].items() <= template["metadata"]["labels"].items()
    [port], [listening] = made["spec"]["ports"], template["spec"]["containers"][0]["ports"]
    assert port["port"] == listening["containerPort"] == 5601


@pytest.mark.parametrize("version", VERSIONS)
def test_they_are_none_of_the_engines_pods(version: int) -> None:
    this = deployed(version)
    labels = dashboards_deployment(this, "3.4.0")["spec"]["template"]["metadata"]["labels"]
    assert not this.labels().items() <= labels.items()


def test_without_certificates_they_ask_plainly_and_nobody_logs_in() -> None:
    assert variables(deployed(4)) == {
        "OPENSEARCH_HOSTS": "http://logs.search.svc:9200",
        "DISABLE_SECURITY_DASHBOARDS_PLUGIN": "true",
    }
    assert "volumes" not in pod(deployed(4))


def test_with_certificates_they_trust_the_authority_and_do_not_see_the_key() -> None:
    this = deployed(4, TLS)
    given = variables(this)
    assert given["OPENSEARCH_HOSTS"] == "https://logs.search.svc:9200"
    assert given["OPENSEARCH_SSL_VERIFICATIONMODE"] == "full"
    [mount] = pod(this)["containers"][0]["volumeMounts"]
    assert given["OPENSEARCH_SSL_CERTIFICATEAUTHORITIES"] == f"{mount['mountPath']}/ca.crt"
    [volume] = pod(this)["volumes"]
    assert volume["secret"]["items"] == [{"key": "ca.crt", "path": "ca.crt"}]


@pytest.mark.parametrize("version", VERSIONS)
def test_with_credentials_as_well_they_say_who_they_are(version: int) -> None:
    given = variables(deployed(version, USERS))
    ours = "logs-config" if version == 1 else "logs-credentials"
    assert given["OPENSEARCH_USERNAME"] == {"name": ours, "key": "username"}
    assert given["OPENSEARCH_PASSWORD"] == {"name": ours, "key": "password"}
    assert "DISABLE_SECURITY_DASHBOARDS_PLUGIN" not in given


def test_they_start_anew_when_credentials_change() -> None:
    before = deployed(4, USERS)
    after = replace(before, credentials=(("password", "Yw=="),))
    templates = [dashboards_deployment(each, "3.4.0")["spec"]["template"] for each in (before, after)]
    assert templates[0]["metadata"]["annotations"] != templates[1]["metadata"]["annotations"]


def test_their_image_comes_from_where_the_operator_was_told() -> None:
    mirrored = replace(deployed(4), images=Images(dashboards="mirror.example.com/dashboards"))
    assert pod(mirrored)["containers"][0]["image"] == "mirror.example.com/dashboards:3.4.0"
