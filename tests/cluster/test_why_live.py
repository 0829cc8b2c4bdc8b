"""`everpath why --live`: the cluster says what is asked, the catalog says why."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from catalogs import write_fbc
from clusters import Kept, catalog, csv, deployment, group, plan, pod, subscription, world
from commandline import Answer
from everpath.olm.objects import SUBSCRIPTION
from schemas import conforms

Call = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """op.v1.0.0 is stranded: what skips it is skipped."""
    write_fbc(tmp_path, "[stable]\nop.v1.2.0: - / op.v1.1.0\nop.v1.1.0: - / op.v1.0.0\nop.v1.0.0", "op")
    return str(tmp_path)


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
    )


def test_what_is_installed_is_asked_of_the_cluster(everpath: Call, folder: str) -> None:
    answer = everpath(running(), "why", folder, "--live", "-n", "ns")
    assert answer.out.startswith("package op in namespace ns: op.v1.0.0 runs\n")
    assert "OLM v0 keeps op.v1.0.0, and will not move it." in answer.out
    assert "OLM v1" not in answer.out
    assert "kubectl get" not in answer.out
    assert answer.code == 1


def test_the_json_has_both(everpath: Call, folder: str) -> None:
    made = json.loads(everpath(running(), "why", folder, "-p", "op", "--live", "-n", "ns", "-o", "json").out)
    conforms("why", made)
    assert made["installed"]["name"] == "op.v1.0.0"
    assert made["live"]["running"] == "op.v1.0.0"


@pytest.mark.parametrize("starting", [None, "op.v1.0.0"])
def test_where_nothing_is_installed_the_subscription_says_what_begins(
    everpath: Call, folder: str, starting: str | None
) -> None:
    wishes = {"channel": "stable"} | ({"startingCSV": starting} if starting else {})
    kept = world(catalog=catalog(), group=group(), subscription=subscription(**wishes))
    answer = everpath(kept, "why", folder, "--live", "-n", "ns")
    assert f"OLM v0 installs {starting or 'op.v1.2.0'}" in answer.out


def test_nobody_asks(everpath: Call, folder: str) -> None:
    answer = everpath(running(), "why", folder, "-p", "other", "--live", "-n", "ns")
    assert answer.code == 2
    assert "nobody asks OLM for other: there are Subscriptions for op in namespace ns" in answer.err
    kept = running()
    other = subscription(name="other")
    other["spec"]["name"] = "other"
    kept.put(SUBSCRIPTION, other)
    assert "say which package is meant" in everpath(kept, "why", folder, "--live", "-n", "ns").err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--live", "--installed", "1.0.0"), "--installed and --live exclude each other"),
        (("--live", "-c", "stable"), "-c and --live exclude each other"),
        (("--live", "--policy", "v1"), "--policy and --live exclude each other"),
        (("--fresh", "-n", "ns"), "--namespace goes with --live"),
    ],
)
def test_the_cluster_says_what_is_asked(
    everpath: Call, folder: str, options: tuple[str, ...], said: str
) -> None:
    answer = everpath(running(), "why", folder, *options)
    assert answer.code == 2
    assert said in answer.err
