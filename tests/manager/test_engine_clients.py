"""Which engine the operator speaks to, and with which credentials."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import Any

import pytest

from operators_at_work import CLUSTER, asked_for, edited, settled, status
from searchkeeper.kubernetes.api import Unavailable
from searchkeeper.kubernetes.operations import Delete, Key
from searchkeeper.manager.engine_clients import FakeEngineClient, _access, engine_clients
from searchkeeper.opensearch.calls import SetAllocation
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.http import Access
from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.object_store import remove
from tales import until


def secret(world: FakeCluster, name: str, **data: str | bytes) -> None:
    contents = {key: each.encode() if isinstance(each, str) else each for key, each in data.items()}
    encoded = {key.replace("_", "."): base64.b64encode(each).decode() for key, each in contents.items()}
    metadata = {"name": name, "namespace": CLUSTER.namespace}
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded})


def test_a_plain_cluster_answers_at_its_service() -> None:
    assert _access(asked_for(), CLUSTER, None) == Access("http://logs.search.svc:9200")


def test_certificates_and_credentials_come_from_the_secrets_that_the_spec_names() -> None:
    world = asked_for(security={"tlsSecret": "tls", "credentialsSecret": "admin"})
    secret(world, "tls", ca_crt="PEM")
    secret(world, "admin", username="root", password="12345")

    assert _access(world, CLUSTER, None) == Access("https://logs.search.svc:9200", "root", "12345", "PEM")


@pytest.mark.parametrize("wanted", ["other", None])
def test_while_an_upgrade_is_under_way_the_certificates_that_nodes_have_are_trusted(
    wanted: str | None,
) -> None:
    """I11: whatever is written meanwhile, they get it afterwards."""
    world = asked_for(security={"tlsSecret": "tls"})
    secret(world, "tls", ca_crt="PEM")
    secret(world, "other", ca_crt="other PEM")
    settled(world, "0.4.0")
    until(lambda world: "upgrade/lock" in status(world)["ledger"], edited(world, version="3.4.0"))
    edited(world, security={"tlsSecret": wanted})

    assert _access(world, CLUSTER, None) == Access("https://logs.search.svc:9200", authority="PEM")


def test_of_a_secret_only_what_is_needed_has_to_be_text() -> None:
    """Others keep keystores beside it."""
    world = asked_for(security={"tlsSecret": "tls", "credentialsSecret": "admin"})
    secret(world, "tls", ca_crt="PEM", keystore_jks=b"\xfe\xed\xfe\xed")
    secret(world, "admin", username="root", password="12345", salt=b"\xff")

    assert _access(world, CLUSTER, None) == Access("https://logs.search.svc:9200", "root", "12345", "PEM")


WHOLE = {"ca_crt": "PEM", "username": "root", "password": "12345"}


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        (None, "does not exist"),
        ({**WHOLE, "ca_crt": b"\xff"}, "has no text in ca.crt"),
        ({**WHOLE, "ca_crt": ""}, "has no text in ca.crt"),
        ({"ca_crt": "PEM"}, "has no text in username and password"),
        ({**WHOLE, "password": b"\xff"}, "has no text in password"),
    ],
    ids=["no-secret", "binary-authority", "empty-authority", "no-credentials", "binary-password"],
)
def test_an_engine_that_cannot_be_entered_says_what_is_missing(
    entries: dict[str, str | bytes] | None, why: str
) -> None:
    world = asked_for(security={"tlsSecret": "both", "credentialsSecret": "both"})
    if entries is not None:
        secret(world, "both", **entries)
    engine = engine_clients(world)(CLUSTER)

    assert engine.get_state() == Unreachable(f"Secret both, which spec.security names, {why}")
    with pytest.raises(CallFailed, match=why):
        engine.execute(SetAllocation(None))


def test_no_password_goes_where_it_could_be_overheard() -> None:
    world = asked_for(security={"credentialsSecret": "admin"})
    secret(world, "admin", username="root", password="12345")

    assert _access(world, CLUSTER, None) == Access("http://logs.search.svc:9200")


def test_an_engine_without_users_is_asked_by_nobody_in_particular() -> None:
    world = asked_for(security={"tlsSecret": "tls"})
    secret(world, "tls", ca_crt="PEM")

    assert _access(world, CLUSTER, None) == Access("https://logs.search.svc:9200", authority="PEM")


def test_an_address_that_was_given_serves_for_all() -> None:
    assert _access(asked_for(), CLUSTER, "http://localhost:9200").url == "http://localhost:9200"


@pytest.fixture
def running() -> FakeCluster:
    """A cluster whose pods run."""
    world = asked_for()
    settled(world, "0.4.0")
    assert status(world)["phase"] == "Running"
    return world


def looked(engine: FakeEngineClient) -> EngineView:
    snapshot = engine.get_state()
    assert isinstance(snapshot, EngineView)
    return snapshot


def test_a_stand_in_has_the_nodes_that_run(running: FakeCluster) -> None:
    engine = FakeEngineClient(running, CLUSTER)
    engine.get_state()

    assert {node.name for node in looked(engine).nodes} == {
        *("logs-data-0", "logs-data-1"),
        *("logs-managers-0", "logs-managers-1", "logs-managers-2"),
    }


def test_a_stand_in_keeps_what_it_was_told(running: FakeCluster) -> None:
    drive = engine_clients(running, "embedded")
    drive(CLUSTER).get_state()
    drive(CLUSTER).execute(SetAllocation(Allocation.PRIMARIES))

    snapshot = drive(CLUSTER).get_state()
    assert isinstance(snapshot, EngineView)
    assert snapshot.allocation is Allocation.PRIMARIES


def test_a_stand_in_forgets_a_volume_that_is_another_one(running: FakeCluster) -> None:
    engine = FakeEngineClient(running, CLUSTER)
    engine.get_state()
    engine.get_state()
    assert dict(engine.engine.disks)["logs-data-0"] == "2.19.4"
    running.delete(Delete(Key("v1", "Pod", "search", "logs-data-0"), "", ""))
    claim = Key("v1", "PersistentVolumeClaim", "search", "data-logs-data-0")
    before = running.get(claim)
    assert before is not None
    running.state = replace(running.state, cluster=remove(running.state.cluster, claim))
    running.create(before)

    engine.get_state()
    assert "logs-data-0" not in dict(engine.engine.disks)


def test_pods_that_cannot_be_asked_for_are_an_engine_that_does_not_answer(
    running: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(*_: Any) -> Any:
        raise Unavailable("no answer")

    monkeypatch.setattr(running, "list", silent)

    assert FakeEngineClient(running, CLUSTER).get_state() == Unreachable("no answer")
