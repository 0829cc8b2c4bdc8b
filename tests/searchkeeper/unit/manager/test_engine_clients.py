"""Engine clients: URLs, credentials, and the fake engine behind real pods."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.cli.engines import select_engine_clients
from searchkeeper.kubernetes.api import Unavailable
from searchkeeper.kubernetes.operations import Delete, Key
from searchkeeper.manager.engine_clients import _access, engine_clients
from searchkeeper.opensearch.calls import SetAllocation
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_engine_client import FakeEngineClient
from searchkeeper.testing.fake_kubernetes.object_store import remove
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    edit_spec,
    new_cluster,
    reconcile_until,
    reconcile_until_converged,
    status,
)


def create_secret(cluster: FakeCluster, name: str, **data: str | bytes) -> None:
    contents = {key: value.encode() if isinstance(value, str) else value for key, value in data.items()}
    encoded = {key.replace("_", "."): base64.b64encode(value).decode() for key, value in contents.items()}
    metadata = {"name": name, "namespace": CLUSTER.namespace}
    cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded})


def test_unencrypted_cluster_is_reached_at_its_service() -> None:
    assert _access(new_cluster(), CLUSTER, None) == Access("http://logs.search.svc:9200")


def test_certificates_and_credentials_come_from_the_secrets_of_the_spec() -> None:
    cluster = new_cluster(security={"tlsSecret": "tls", "credentialsSecret": "admin"})
    create_secret(cluster, "tls", ca_crt="PEM")
    create_secret(cluster, "admin", username="root", password="12345")

    assert _access(cluster, CLUSTER, None) == Access("https://logs.search.svc:9200", "root", "12345", "PEM")


@pytest.mark.parametrize("wanted", ["other", None])
def test_upgrade_keeps_trusting_the_certificates_that_nodes_have(
    wanted: str | None,
) -> None:
    """I11: nodes get the changed spec after the upgrade."""
    cluster = new_cluster(security={"tlsSecret": "tls"})
    create_secret(cluster, "tls", ca_crt="PEM", tls_crt="certificate", tls_key="key")
    create_secret(cluster, "other", ca_crt="other PEM", tls_crt="certificate", tls_key="key")
    reconcile_until_converged(cluster, "0.5.0")
    reconcile_until(
        edit_spec(cluster, version="3.4.0"), lambda cluster: "upgrade/lock" in status(cluster)["ledger"]
    )
    edit_spec(cluster, security={"tlsSecret": wanted})

    assert _access(cluster, CLUSTER, None) == Access("https://logs.search.svc:9200", authority="PEM")


def test_other_entries_of_a_secret_may_be_binary() -> None:
    """Users keep keystores in the same Secret."""
    cluster = new_cluster(security={"tlsSecret": "tls", "credentialsSecret": "admin"})
    create_secret(cluster, "tls", ca_crt="PEM", keystore_jks=b"\xfe\xed\xfe\xed")
    create_secret(cluster, "admin", username="root", password="12345", salt=b"\xff")

    assert _access(cluster, CLUSTER, None) == Access("https://logs.search.svc:9200", "root", "12345", "PEM")


COMPLETE = {"ca_crt": "PEM", "username": "root", "password": "12345"}


@pytest.mark.parametrize(
    ("entries", "cause"),
    [
        (None, "does not exist"),
        ({**COMPLETE, "ca_crt": b"\xff"}, "has no text in ca.crt"),
        ({**COMPLETE, "ca_crt": ""}, "has no text in ca.crt"),
        ({"ca_crt": "PEM"}, "has no text in username and password"),
        ({**COMPLETE, "password": b"\xff"}, "has no text in password"),
    ],
    ids=["no-secret", "binary-authority", "empty-authority", "no-credentials", "binary-password"],
)
def test_missing_credentials_make_the_engine_unreachable(
    entries: dict[str, str | bytes] | None, cause: str
) -> None:
    cluster = new_cluster(security={"tlsSecret": "both", "credentialsSecret": "both"})
    if entries is not None:
        create_secret(cluster, "both", **entries)
    engine = engine_clients(cluster)(CLUSTER)

    assert engine.get_state() == Unreachable(f"Secret both, which spec.security names, {cause}")
    with pytest.raises(CallFailed, match=cause):
        engine.execute(SetAllocation(None))


def test_no_password_is_sent_without_encryption() -> None:
    cluster = new_cluster(security={"credentialsSecret": "admin"})
    create_secret(cluster, "admin", username="root", password="12345")

    assert _access(cluster, CLUSTER, None) == Access("http://logs.search.svc:9200")


def test_engine_without_credentials_is_called_anonymously() -> None:
    cluster = new_cluster(security={"tlsSecret": "tls"})
    create_secret(cluster, "tls", ca_crt="PEM")

    assert _access(cluster, CLUSTER, None) == Access("https://logs.search.svc:9200", authority="PEM")


def test_explicit_url_is_used_for_all_clusters() -> None:
    assert _access(new_cluster(), CLUSTER, "http://localhost:9200").url == "http://localhost:9200"


@pytest.fixture
def running() -> FakeCluster:
    """A fake cluster with running pods."""
    cluster = new_cluster()
    reconcile_until_converged(cluster, "0.5.0")
    assert status(cluster)["phase"] == "Running"
    return cluster


def engine_view(engine: FakeEngineClient) -> EngineView:
    view = engine.get_state()
    assert isinstance(view, EngineView)
    return view


def test_fake_engine_has_the_running_pods_as_nodes(running: FakeCluster) -> None:
    engine = FakeEngineClient(running, CLUSTER)
    engine.get_state()

    assert {node.name for node in engine_view(engine).nodes} == {
        *("logs-data-0", "logs-data-1"),
        *("logs-managers-0", "logs-managers-1", "logs-managers-2"),
    }


def test_fake_engine_keeps_its_settings(running: FakeCluster) -> None:
    client = select_engine_clients(running, "embedded")
    client(CLUSTER).get_state()
    client(CLUSTER).execute(SetAllocation(Allocation.PRIMARIES))

    view = client(CLUSTER).get_state()
    assert isinstance(view, EngineView)
    assert view.allocation is Allocation.PRIMARIES


def test_fake_engine_wipes_a_replaced_volume(running: FakeCluster) -> None:
    engine = FakeEngineClient(running, CLUSTER)
    engine.get_state()
    engine.get_state()
    assert dict(engine.engine.disks)["logs-data-0"] == "2.19.4"
    running.delete(Delete(Key("v1", "Pod", "search", "logs-data-0"), "", ""))
    claim = Key("v1", "PersistentVolumeClaim", "search", "data-logs-data-0")
    manifest = running.get(claim)
    assert manifest is not None
    running.state = replace(running.state, cluster=remove(running.state.cluster, claim))
    running.create(manifest)

    engine.get_state()
    assert "logs-data-0" not in dict(engine.engine.disks)


def test_fake_engine_is_unreachable_when_pods_cannot_be_listed(
    running: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise Unavailable("no response")

    monkeypatch.setattr(running, "list", fail)

    assert FakeEngineClient(running, CLUSTER).get_state() == Unreachable("no response")
