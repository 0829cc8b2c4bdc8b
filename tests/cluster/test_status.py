"""`everpath status`: the chain as a table, what it waits for, and the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest

from clusters import Kept, catalog, csv, deployment, group, operator_condition, plan, pod, subscription, world
from commandline import Answer
from everpath.olm.objects import INSTALL_PLAN, SUBSCRIPTION
from schemas import conforms

Call = Callable[..., Answer]

RUNS = """\
package op in namespace ns: op.v1.0.0 runs

  CatalogSource          op-catalog     fine  READY, 10.0.0.7:50051
  OperatorGroup          og             fine  watches all namespaces
  Subscription           op             fine  AtLatestKnown, channel stable, Automatic
  InstallPlan            install-1      fine  Complete, installed op.v1.0.0
  ClusterServiceVersion  op.v1.0.0      fine  Succeeded
  Deployment             op-controller  fine  1 of 1 available
  OperatorCondition      op.v1.0.0      fine  Upgradeable=True

Waits for nothing.
"""


def running() -> Kept:
    return world(
        catalog=catalog(),
        group=group(),
        subscription=subscription(
            "op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1", channel="stable"
        ),
        plan=plan("Complete", "op.v1.0.0"),
        csv=csv("op.v1.0.0"),
        deployment=deployment(),
        pod=pod(),
        condition=operator_condition("op.v1.0.0", "True"),
    )


def test_an_operator_that_runs(everpath: Call) -> None:
    answer = everpath(running(), "status", "op", "-n", "ns")
    assert (answer.out, answer.err, answer.code) == (RUNS, "", 0)


def test_one_that_waits_says_for_what_and_what_to_do(everpath: Call) -> None:
    kept = running()
    kept.put(SUBSCRIPTION, subscription("op.v1.0.0", "op.v1.1.0", state="UpgradePending", plan="install-2"))
    kept.put(INSTALL_PLAN, plan("RequiresApproval", "op.v1.1.0", name="install-2", approved=False))
    answer = everpath(kept, "status", "op", "-n", "ns")
    assert answer.out.splitlines()[0] == (
        "package op in namespace ns: op.v1.0.0 runs, and is to become op.v1.1.0"
    )
    assert answer.out.endswith(
        "Waits for InstallPlan install-2 to be approved: it installs op.v1.1.0\n"
        "  to go on: everpath upgrade op -n ns\n"
    )
    assert answer.code == 1


def test_without_a_package_all_of_the_namespace_are_told(everpath: Call) -> None:
    kept = running()
    other = subscription(name="another")
    other["spec"]["name"] = "another"
    kept.put(SUBSCRIPTION, other)
    answer = everpath(kept, "status", "-n", "ns")
    heads = [line for line in answer.out.splitlines() if line.startswith("package ")]
    assert heads == [
        "package another in namespace ns: nothing is installed",
        "package op in namespace ns: op.v1.0.0 runs",
    ]
    assert answer.code == 1


def test_an_empty_namespace_is_a_wrong_namespace(everpath: Call) -> None:
    answer = everpath(world(), "status", "-n", "ns")
    assert answer.code == 2
    assert "no Subscription is in namespace ns" in answer.err


def test_a_cluster_without_olm(everpath: Call) -> None:
    answer = everpath(Kept(served=False), "status", "op", "-n", "ns")
    assert answer.code == 4


def test_the_json_is_the_contract(everpath: Call) -> None:
    for kept in (running(), world()):
        made = json.loads(everpath(kept, "status", "op", "-n", "ns", "-o", "json").out)
        conforms("status", made)
        (one,) = made["packages"]
        assert (one["running"] == "op.v1.0.0") == (not one["waits"])


def test_names_from_a_cluster_cannot_write_to_the_terminal(everpath: Call) -> None:
    kept = running()
    kept.put(SUBSCRIPTION, subscription("op.v1.0.0", "op.v1.0.0", state="\x1b[2J", channel="a\nb"))
    out = everpath(kept, "status", "op", "-n", "ns").out
    assert "\x1b" not in out
    assert "channel a b" in out


def test_watching_looks_again_until_it_is_interrupted(everpath: Call) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    answer = everpath(running(), "status", "op", "-n", "ns", "--watch", steps=(lambda: None, interrupted))
    assert answer.out == RUNS * 2
    assert answer.code == 130
    assert everpath(running(), "status", "op", "-n", "ns", "--watch", "-o", "json").code == 2


def test_who_watches_a_cluster_that_is_silent_for_a_while_watches_on(everpath: Call) -> None:
    kept = running()

    def interrupted() -> None:
        raise KeyboardInterrupt

    steps = (
        lambda: setattr(kept, "is_silent", True),
        lambda: setattr(kept, "is_silent", False),
        interrupted,
    )
    answer = everpath(kept, "status", "op", "-n", "ns", "--watch", steps=steps)
    assert answer.out == RUNS * 2
    assert "it does not answer; asking again" in answer.err
    assert answer.code == 130


def test_colour_changes_no_letter(everpath: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    out = everpath(running(), "status", "op", "-n", "ns").out
    assert out.count("\x1b[32mfine\x1b[0m") == 7
    assert re.sub(r"\x1b\[[0-9;]*m", "", out) == RUNS
