"""`everpath status`: the chain as a table, its waits, and the JSON output."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from everpath.olm.objects import INSTALL_PLAN, SUBSCRIPTION
from tests.support.commandline import Answer
from tests.support.everpath.fake_cluster import (
    FakeCluster,
    catalog_source,
    csv,
    deployment,
    install_plan,
    make_cluster,
    operator_condition,
    operator_group,
    pod,
    subscription,
)
from tests.support.schemas import conforms

Call = Callable[..., Answer]

RUNNING = """\
package op in namespace ns: op.v1.0.0 is running

  CatalogSource          op-catalog     fine  READY, 10.0.0.7:50051
  OperatorGroup          og             fine  targets all namespaces
  Subscription           op             fine  AtLatestKnown, channel stable, Automatic
  InstallPlan            install-1      fine  Complete, installed op.v1.0.0
  ClusterServiceVersion  op.v1.0.0      fine  Succeeded
  Deployment             op-controller  fine  1 of 1 available
  OperatorCondition      op.v1.0.0      fine  Upgradeable=True

Waiting for nothing.
"""


def running_cluster() -> FakeCluster:
    return make_cluster(
        catalog_source=catalog_source(),
        operator_group=operator_group(),
        subscription=subscription(
            "op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1", channel="stable"
        ),
        install_plan=install_plan("Complete", "op.v1.0.0"),
        csv=csv("op.v1.0.0"),
        deployment=deployment(),
        pod=pod(),
        operator_condition=operator_condition("op.v1.0.0", "True"),
    )


def test_status_of_running_operator(everpath: Call) -> None:
    answer = everpath(running_cluster(), "status", "op", "-n", "ns")
    assert (answer.out, answer.err, answer.code) == (RUNNING, "", 0)


def test_waits_are_printed_with_hints(everpath: Call) -> None:
    cluster = running_cluster()
    cluster.put(
        SUBSCRIPTION, subscription("op.v1.0.0", "op.v1.1.0", state="UpgradePending", plan="install-2")
    )
    cluster.put(INSTALL_PLAN, install_plan("RequiresApproval", "op.v1.1.0", name="install-2", approved=False))
    answer = everpath(cluster, "status", "op", "-n", "ns")
    assert answer.out.splitlines()[0] == (
        "package op in namespace ns: op.v1.0.0 is running, upgrade to op.v1.1.0 is pending"
    )
    assert answer.out.endswith(
        "Waiting for approval of InstallPlan install-2, which installs op.v1.1.0\n"
        "  hint: everpath upgrade op -n ns\n"
    )
    assert answer.code == 1


def test_without_package_all_packages_of_the_namespace_are_shown(everpath: Call) -> None:
    cluster = running_cluster()
    other = subscription(name="another")
    other["spec"]["name"] = "another"
    cluster.put(SUBSCRIPTION, other)
    answer = everpath(cluster, "status", "-n", "ns")
    headlines = [line for line in answer.out.splitlines() if line.startswith("package ")]
    assert headlines == [
        "package another in namespace ns: nothing is installed",
        "package op in namespace ns: op.v1.0.0 is running",
    ]
    assert answer.code == 1


def test_namespace_without_subscriptions_is_refused(everpath: Call) -> None:
    answer = everpath(make_cluster(), "status", "-n", "ns")
    assert answer.code == 2
    assert "namespace ns has no Subscription" in answer.err


def test_cluster_without_olm_is_reported(everpath: Call) -> None:
    answer = everpath(FakeCluster(has_olm=False), "status", "op", "-n", "ns")
    assert answer.code == 4


def test_json_output_conforms_to_the_schema(everpath: Call) -> None:
    for cluster in (running_cluster(), make_cluster()):
        report = json.loads(everpath(cluster, "status", "op", "-n", "ns", "-o", "json").out)
        conforms("status", report)
        (package,) = report["packages"]
        assert (package["running"] == "op.v1.0.0") == (not package["waits"])


def test_control_characters_from_the_cluster_are_not_printed(everpath: Call) -> None:
    cluster = running_cluster()
    cluster.put(SUBSCRIPTION, subscription("op.v1.0.0", "op.v1.0.0", state="\x1b[2J", channel="a\nb"))
    out = everpath(cluster, "status", "op", "-n", "ns").out
    assert "\x1b" not in out
    assert "channel a b" in out


def test_watch_refreshes_until_interrupted(everpath: Call) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    answer = everpath(
        running_cluster(), "status", "op", "-n", "ns", "--watch", steps=(lambda: None, interrupt)
    )
    assert answer.out == RUNNING * 2
    assert answer.code == 130
    assert everpath(running_cluster(), "status", "op", "-n", "ns", "--watch", "-o", "json").code == 2


def test_watch_retries_an_unreachable_cluster(everpath: Call) -> None:
    cluster = running_cluster()

    def interrupt() -> None:
        raise KeyboardInterrupt

    steps = (
        lambda: setattr(cluster, "is_unreachable", True),
        lambda: setattr(cluster, "is_unreachable", False),
        interrupt,
    )
    answer = everpath(cluster, "status", "op", "-n", "ns", "--watch", steps=steps)
    assert answer.out == RUNNING * 2
    assert "the cluster does not respond; retrying" in answer.err
    assert answer.code == 130


def test_colours_do_not_change_the_text(everpath: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = everpath(running_cluster(), "status", "op", "-n", "ns").out
    assert out.count("\x1b[32mfine\x1b[0m") == 7
    assert re.sub(r"\x1b\[[0-9;]*m", "", out) == RUNNING
