"""The use cases on a cluster, called from Python: they return data, and print nothing."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from everpath.app.cluster.connection import ClusterOptions, connect
from everpath.app.cluster.install import (
    CatalogSourceOptions,
    OperatorGroupOptions,
    SubscriptionOptions,
    install,
    install_request,
    objects_to_install,
)
from everpath.app.cluster.status import read_live_subscription, read_statuses, watch_statuses
from everpath.app.cluster.uninstall import uninstall
from everpath.app.cluster.upgrade import upgrade
from everpath.errors import UsageError
from everpath.olm import kube
from everpath.olm.changes import ChangeType
from everpath.olm.follow import Outcome
from everpath.olm.objects import CSV, SUBSCRIPTION
from everpath.olm.uninstall import UninstallPlan, UninstallScope
from everpath.olm.upgrade import PendingHop
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.fake_cluster import (
    NS,
    FakeClock,
    FakeCluster,
    catalog_source,
    csv,
    deployment,
    install_plan,
    make_cluster,
    operator_group,
    subscription,
)
from tests.support.everpath.fake_olm import (
    connect_catalog,
    create_install_plan,
    execute_install_plan,
    start_csv,
)


@pytest.fixture(autouse=True)
def _prints_nothing(capfd: pytest.CaptureFixture[str]) -> object:
    yield
    assert capfd.readouterr() == ("", "")


REQUEST = install_request(
    "op", NS, CatalogSourceOptions(catalog="10.0.0.7:50051"), SubscriptionOptions(channel="stable")
)


def running_cluster(approval: str = "Automatic") -> FakeCluster:
    cluster = make_cluster(
        catalog_source=catalog_source(),
        operator_group=operator_group(),
        subscription=subscription(
            "op.v1.0.0",
            "op.v1.0.0",
            state="AtLatestKnown",
            plan="install-1",
            approval=approval,
            channel="stable",
        ),
        install_plan=install_plan("Complete", "op.v1.0.0"),
        csv=csv("op.v1.0.0"),
        deployment=deployment(),
    )
    cluster.namespace = NS
    return cluster


def test_install_returns_changes_and_status() -> None:
    cluster = make_cluster()
    lines: list[str] = []
    clock = FakeClock(
        connect_catalog(cluster),
        create_install_plan(cluster, "install-1", "op.v1.0.0"),
        execute_install_plan(cluster, "install-1", "op.v1.0.0"),
        start_csv(cluster, "op.v1.0.0"),
    ).clock
    result = install(cluster, REQUEST, clock, log=lines.append)
    assert result.outcome is Outcome.DONE
    assert [change.type for change in result.changes] == [ChangeType.CREATED] * 4
    assert result.status is not None
    assert result.status.running_csv == "op.v1.0.0"
    assert lines[0] == "Created Namespace ns"


def test_install_without_a_clock_does_not_wait() -> None:
    result = install(make_cluster(), REQUEST, None)
    assert (len(result.changes), result.outcome, result.status) == (4, None, None)


def test_objects_to_install_are_returned_without_a_cluster() -> None:
    kinds = [each["kind"] for each in objects_to_install(REQUEST)]
    assert kinds == ["Namespace", "OperatorGroup", "CatalogSource", "Subscription"]
    with pytest.raises(UsageError, match="OLM v1 supports only catalog images"):
        objects_to_install(REQUEST, "v1")


def test_install_request_rejects_two_lists_of_namespaces() -> None:
    group = OperatorGroupOptions(install_mode="OwnNamespace", watch_namespaces=("a",))
    catalog = CatalogSourceOptions(catalog_name="existing")
    with pytest.raises(UsageError, match="exclude each other"):
        install_request("op", NS, catalog, operator_group=group)


def test_upgrade_approves_the_next_hop() -> None:
    cluster = running_cluster("Manual")
    create_install_plan(cluster, "install-2", "op.v1.1.0", manual=True)()
    hops: list[PendingHop] = []
    clock = FakeClock(
        execute_install_plan(cluster, "install-2", "op.v1.1.0", "op.v1.0.0"),
        start_csv(cluster, "op.v1.1.0", "op.v1.0.0"),
    ).clock
    result = upgrade(cluster, "op", clock, before_approval=hops.append)
    assert [(hop.installed, hop.next_csv) for hop in hops] == [("op.v1.0.0", "op.v1.1.0")]
    assert (result.installed, result.status.running_csv, result.is_reached) == (
        "op.v1.0.0",
        "op.v1.1.0",
        True,
    )
    assert [change.type for change in result.changes] == [ChangeType.APPROVED]


def test_exception_before_approval_ends_the_upgrade() -> None:
    cluster = running_cluster("Manual")
    create_install_plan(cluster, "install-2", "op.v1.1.0", manual=True)()

    def decline(_hop: PendingHop) -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        upgrade(cluster, "op", FakeClock().clock, before_approval=decline)
    assert cluster.log == []


def test_upgrade_predicts_the_path_from_a_catalog(tmp_path: Path) -> None:
    catalog = write_fbc(tmp_path, "[stable]\nop.v1.1.0: op.v1.0.0\nop.v1.0.0", "op")
    result = upgrade(running_cluster(), "op", FakeClock().clock, catalog=str(catalog))
    assert result.path is not None
    assert list(result.path.hops) == ["op.v1.1.0"]
    assert not result.is_reached


def test_uninstall_deletes_the_subscription_and_the_csv() -> None:
    cluster = running_cluster()
    plans: list[UninstallPlan] = []
    result = uninstall(cluster, "op", FakeClock().clock, UninstallScope(), on_plan=plans.append)
    assert plans == [result.plan]
    assert {change.ref.kind for change in result.changes} >= {SUBSCRIPTION, CSV}
    assert result.remaining == []


def test_uninstall_without_a_clock_only_plans() -> None:
    cluster = running_cluster()
    result = uninstall(cluster, "op", None, UninstallScope())
    assert len(result.plan.deletions) == 2
    assert (result.changes, cluster.log) == ([], [])


def test_statuses_are_returned_as_data() -> None:
    (status,) = read_statuses(running_cluster())
    assert (status.package, status.running_csv, status.is_settled) == ("op", "op.v1.0.0", True)


def test_watch_logs_and_retries_if_the_cluster_does_not_respond() -> None:
    cluster = running_cluster()
    lines: list[str] = []

    def sleep(_seconds: float) -> None:
        cluster.is_unreachable = not cluster.is_unreachable

    statuses = watch_statuses(cluster, "op", sleep, lines.append)
    assert next(statuses)[0].running_csv == "op.v1.0.0"
    assert next(statuses)[0].running_csv == "op.v1.0.0"
    assert len(lines) == 1
    assert lines[0].endswith("; retrying")


def test_live_subscription_is_that_of_the_only_package() -> None:
    live = read_live_subscription(running_cluster())
    assert (live.package, live.channel, live.installed) == ("op", "stable", "op.v1.0.0")


def test_connection_has_the_namespace_of_the_options_and_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[object] = []
    fake = SimpleNamespace(namespace="default", close=lambda: calls.append("closed"))

    def fake_connect(*arguments: object) -> object:
        calls.append(arguments)
        return fake

    monkeypatch.setattr(kube, "connect", fake_connect)
    with connect(ClusterOptions("search", "file", "context")) as cluster:
        assert cluster.namespace == "search"
    assert calls == [("file", "context"), "closed"]
