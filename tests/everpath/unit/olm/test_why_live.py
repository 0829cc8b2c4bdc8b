"""`everpath why --live`: the question is read from the cluster, the explanation from the catalog."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from everpath.olm.objects import SUBSCRIPTION
from tests.support.commandline import Answer
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.fake_cluster import (
    FakeCluster,
    catalog_source,
    csv,
    deployment,
    install_plan,
    make_cluster,
    operator_group,
    pod,
    subscription,
)
from tests.support.schemas import conforms

Call = Callable[..., Answer]


@pytest.fixture
def catalog_dir(tmp_path: Path) -> str:
    """A catalog in which op.v1.0.0 is stranded: the entry that skips it is skipped itself."""
    write_fbc(tmp_path, "[stable]\nop.v1.2.0: - / op.v1.1.0\nop.v1.1.0: - / op.v1.0.0\nop.v1.0.0", "op")
    return str(tmp_path)


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
    )


def test_installed_csv_is_read_from_the_cluster(everpath: Call, catalog_dir: str) -> None:
    answer = everpath(running_cluster(), "why", catalog_dir, "--live", "-n", "ns")
    assert answer.out.startswith("package op in namespace ns: op.v1.0.0 is running\n")
    assert "OLM v0 does not upgrade op.v1.0.0." in answer.out
    assert "OLM v1" not in answer.out
    assert "kubectl get" not in answer.out
    assert answer.code == 1


def test_json_output_contains_status_and_explanation(everpath: Call, catalog_dir: str) -> None:
    report = json.loads(
        everpath(running_cluster(), "why", catalog_dir, "-p", "op", "--live", "-n", "ns", "-o", "json").out
    )
    conforms("why", report)
    assert report["installed"]["name"] == "op.v1.0.0"
    assert report["live"]["running"] == "op.v1.0.0"


@pytest.mark.parametrize("starting", [None, "op.v1.0.0"])
def test_starting_csv_is_used_if_nothing_is_installed(
    everpath: Call, catalog_dir: str, starting: str | None
) -> None:
    spec = {"channel": "stable"} | ({"startingCSV": starting} if starting else {})
    cluster = make_cluster(
        catalog_source=catalog_source(), operator_group=operator_group(), subscription=subscription(**spec)
    )
    answer = everpath(cluster, "why", catalog_dir, "--live", "-n", "ns")
    assert f"OLM v0 installs {starting or 'op.v1.2.0'}" in answer.out


def test_package_without_subscription_is_refused(everpath: Call, catalog_dir: str) -> None:
    answer = everpath(running_cluster(), "why", catalog_dir, "-p", "other", "--live", "-n", "ns")
    assert answer.code == 2
    assert "package other has no Subscription; namespace ns has Subscriptions for op" in answer.err
    cluster = running_cluster()
    other = subscription(name="other")
    other["spec"]["name"] = "other"
    cluster.put(SUBSCRIPTION, other)
    assert "no package is given" in everpath(cluster, "why", catalog_dir, "--live", "-n", "ns").err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--live", "--installed", "1.0.0"), "--installed and --live exclude each other"),
        (("--live", "-c", "stable"), "-c and --live exclude each other"),
        (("--live", "--olm", "v1"), "--olm and --live exclude each other"),
        (("--fresh", "-n", "ns"), "--namespace requires --live"),
    ],
)
def test_options_that_the_subscription_replaces_are_refused(
    everpath: Call, catalog_dir: str, options: tuple[str, ...], message: str
) -> None:
    answer = everpath(running_cluster(), "why", catalog_dir, *options)
    assert answer.code == 2
    assert message in answer.err
