"""`everpath install`: the objects it creates, changes or refuses, and its output until the end."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import yaml

from everpath.olm.objects import INSTALL_PLAN, NAMESPACE, OPERATOR_GROUP, SUBSCRIPTION, ObjectRef
from tests.support.commandline import Answer
from tests.support.everpath.fake_cluster import (
    FakeCluster,
    catalog_source,
    install_plan,
    make_cluster,
    operator_group,
    subscription,
)
from tests.support.everpath.fake_olm import (
    connect_catalog,
    create_install_plan,
    execute_install_plan,
    resolution_failed,
    set_conditions,
    start_csv,
    wait,
)
from tests.support.schemas import conforms

Call = Callable[..., Answer]
COMMAND = ("install", "op", "--catalog", "10.0.0.7:50051", "-n", "ns", "--channel", "stable")


def test_install_creates_all_objects_and_follows_until_running(everpath: Call) -> None:
    cluster = make_cluster()
    steps = (
        connect_catalog(cluster),
        create_install_plan(cluster, "install-1", "op.v1.0.0"),
        execute_install_plan(cluster, "install-1", "op.v1.0.0"),
        start_csv(cluster, "op.v1.0.0"),
    )
    answer = everpath(cluster, *COMMAND, steps=steps)
    assert answer.out.splitlines() == [
        "Created Namespace ns",
        "Created OperatorGroup ns-everpath",
        "Created CatalogSource op-catalog",
        "Created Subscription op",
        "Found CatalogSource op-catalog: not connected yet, 10.0.0.7:50051",
        "Found OperatorGroup ns-everpath: targets all namespaces",
        "Found Subscription op: not processed yet, channel stable, Automatic",
        "Found CatalogSource op-catalog: READY, 10.0.0.7:50051",
        "Found Subscription op: UpgradePending, channel stable, Automatic",
        "Found InstallPlan install-1: Installing, op.v1.0.0",
        "Found Subscription op: AtLatestKnown, channel stable, Automatic",
        "Found InstallPlan install-1: Complete, installed op.v1.0.0",
        'Found ClusterServiceVersion "ns/op.v1.0.0" phase: Installing',
        "Found Deployment op-controller: 0 of 1 available",
        'Found ClusterServiceVersion "ns/op.v1.0.0" phase: Succeeded',
        "Found Deployment op-controller: 1 of 1 available",
        'OLM has successfully installed "op.v1.0.0"',
    ]
    assert (answer.code, answer.err) == (0, "")


def install(everpath: Call) -> FakeCluster:
    """Return a cluster on which op.v1.0.0 was installed."""
    cluster = make_cluster()
    steps = (
        connect_catalog(cluster),
        create_install_plan(cluster, "install-1", "op.v1.0.0"),
        execute_install_plan(cluster, "install-1", "op.v1.0.0"),
        start_csv(cluster, "op.v1.0.0"),
    )
    assert everpath(cluster, *COMMAND, steps=steps).code == 0
    cluster.log.clear()
    return cluster


def test_second_install_changes_nothing(everpath: Call) -> None:
    cluster = install(everpath)
    answer = everpath(cluster, *COMMAND)
    assert cluster.log == []
    assert answer.out.splitlines()[:5] == [
        "Namespace ns unchanged",
        "OperatorGroup ns-everpath unchanged",
        "CatalogSource op-catalog unchanged",
        "Subscription op unchanged",
        "Nothing to change: all objects exist as requested",
    ]
    assert answer.out.splitlines()[-1] == 'OLM has successfully installed "op.v1.0.0"'
    assert answer.code == 0


def test_fields_of_other_managers_are_kept(everpath: Call) -> None:
    cluster = install(everpath)
    ref = ObjectRef(SUBSCRIPTION, "ns", "op")
    cluster.objects[ref]["spec"]["config"] = {"env": [{"name": "A", "value": "b"}]}
    everpath(cluster, *COMMAND)
    everpath(cluster, *COMMAND, "--approval", "Manual", "--force")
    assert cluster.objects[ref]["spec"]["config"] == {"env": [{"name": "A", "value": "b"}]}
    assert cluster.objects[ref]["spec"]["installPlanApproval"] == "Manual"


def test_existing_approval_is_kept_without_the_option(everpath: Call) -> None:
    cluster = install(everpath)
    assert everpath(cluster, *COMMAND, "--approval", "Manual", "--force").code == 0
    cluster.log.clear()
    assert everpath(cluster, *COMMAND).code == 0
    assert cluster.log == []


def test_changed_channel_is_followed_to_the_new_version(everpath: Call) -> None:
    """OLM reports AtLatestKnown until it has processed the new channel."""
    cluster = install(everpath)
    steps = (
        wait,
        wait,
        create_install_plan(cluster, "install-2", "op.v2.0.0"),
        execute_install_plan(cluster, "install-2", "op.v2.0.0", "op.v1.0.0"),
        start_csv(cluster, "op.v2.0.0", "op.v1.0.0"),
    )
    answer = everpath(cluster, *COMMAND, "--channel", "fast", "--force", steps=steps)
    assert answer.out.splitlines()[-1] == 'OLM has successfully installed "op.v2.0.0"'
    assert answer.code == 0


def test_install_with_starting_csv_is_followed_to_the_newest_version(everpath: Call) -> None:
    """OLM reports AtLatestKnown between two hops."""
    cluster = make_cluster()
    steps = (
        connect_catalog(cluster),
        create_install_plan(cluster, "install-1", "op.v1.0.0"),
        execute_install_plan(cluster, "install-1", "op.v1.0.0"),
        start_csv(cluster, "op.v1.0.0"),
        *(wait,) * 4,
        create_install_plan(cluster, "install-2", "op.v1.1.0"),
        execute_install_plan(cluster, "install-2", "op.v1.1.0", "op.v1.0.0"),
        start_csv(cluster, "op.v1.1.0", "op.v1.0.0"),
    )
    answer = everpath(cluster, *COMMAND, "--starting-csv", "1.0.0", steps=steps)
    assert answer.out.splitlines()[-1] == 'OLM has successfully installed "op.v1.1.0"'
    assert answer.code == 0


def test_install_waits_while_the_next_bundle_is_unpacked(everpath: Call) -> None:
    cluster = make_cluster()

    steps = (
        connect_catalog(cluster),
        create_install_plan(cluster, "install-1", "op.v1.0.0"),
        execute_install_plan(cluster, "install-1", "op.v1.0.0"),
        set_conditions(cluster, {"type": "BundleUnpacking", "status": "True"}),
        start_csv(cluster, "op.v1.0.0"),
        *(wait,) * 20,
        create_install_plan(cluster, "install-2", "op.v1.1.0"),
        execute_install_plan(cluster, "install-2", "op.v1.1.0", "op.v1.0.0"),
        set_conditions(cluster, {"type": "BundleUnpacking", "status": "False"}),
        start_csv(cluster, "op.v1.1.0", "op.v1.0.0"),
    )
    answer = everpath(cluster, *COMMAND, "--starting-csv", "1.0.0", steps=steps)
    assert answer.out.splitlines()[-1] == 'OLM has successfully installed "op.v1.1.0"'
    assert answer.code == 0


def test_change_that_cannot_be_resolved_fails(everpath: Call) -> None:
    cluster = install(everpath)
    failure = resolution_failed("no operators found in channel nowhere")
    steps = (wait, wait, set_conditions(cluster, failure))
    answer = everpath(cluster, *COMMAND, "--channel", "nowhere", "--force", steps=steps)
    assert "no operators found in channel nowhere" in answer.out
    assert "hint: everpath why CATALOG -p op --live -n ns explains" in answer.out
    assert answer.code == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--channel", "fast"), "spec.channel is stable, not fast"),
        (("--approval", "Manual"), "spec.installPlanApproval is Automatic, not Manual"),
        (("--starting-csv", "0.9.0"), "spec.startingCSV is not set, not op.v0.9.0"),
    ],
)
def test_subscription_that_differs_is_refused(everpath: Call, options: tuple[str, ...], message: str) -> None:
    cluster = install(everpath)
    answer = everpath(cluster, *COMMAND, *options)
    assert answer.code == 2
    assert message in answer.err
    assert "hint: " in answer.err
    assert cluster.log == []


def test_catalog_source_that_differs_is_refused_before_any_write(everpath: Call) -> None:
    cluster = make_cluster(catalog_source=catalog_source(address="10.0.0.8:50051"))
    answer = everpath(cluster, *COMMAND)
    assert answer.code == 2
    assert "spec.address is 10.0.0.8:50051, not 10.0.0.7:50051" in answer.err
    assert cluster.log == []


def test_existing_operator_group_is_used(everpath: Call) -> None:
    cluster = make_cluster(operator_group=operator_group("own", "ns"))
    everpath(cluster, *COMMAND, "--no-wait")
    assert [ref.name for ref in cluster.objects if ref.kind == OPERATOR_GROUP] == ["own"]


@pytest.mark.parametrize(
    ("groups", "options", "message"),
    [
        (
            [operator_group("own", "ns")],
            ("--watch-namespaces", "other"),
            "OperatorGroup own in namespace ns targets ns, not other",
        ),
        (
            [operator_group("all")],
            ("--install-mode", "OwnNamespace"),
            "OperatorGroup all in namespace ns targets all",
        ),
        ([operator_group("a"), operator_group("b")], (), "namespace ns has several OperatorGroups: a, b"),
    ],
)
def test_operator_group_with_other_target_namespaces_is_refused(
    everpath: Call, groups: list[dict[str, object]], options: tuple[str, ...], message: str
) -> None:
    cluster = make_cluster(operator_group=groups)
    answer = everpath(cluster, *COMMAND, *options)
    assert answer.code == 2
    assert message in answer.err
    assert cluster.log == []


def test_manual_approval_stops_at_the_install_plan_with_a_hint(everpath: Call) -> None:
    cluster = make_cluster()
    steps = (connect_catalog(cluster), create_install_plan(cluster, "install-1", "op.v1.0.0", manual=True))
    answer = everpath(cluster, *COMMAND, "--approval", "Manual", steps=steps)
    assert answer.out.splitlines()[-2:] == [
        "Waiting for approval of InstallPlan install-1, which installs op.v1.0.0",
        "  hint: everpath upgrade op -n ns",
    ]
    assert answer.code == 0


def test_approve_approves_only_the_first_install_plan(everpath: Call) -> None:
    cluster = make_cluster()
    steps = (
        create_install_plan(cluster, "install-1", "op.v1.0.0", manual=True),
        execute_install_plan(cluster, "install-1", "op.v1.0.0"),
        create_install_plan(cluster, "install-2", "op.v1.1.0", manual=True),
        start_csv(cluster, "op.v1.0.0"),
    )
    answer = everpath(cluster, *COMMAND, "--approval", "Manual", "--approve", steps=steps)
    assert "Approved InstallPlan install-1" in answer.out
    assert "Approved InstallPlan install-2" not in answer.out
    assert answer.out.splitlines()[-2:] == [
        'OLM has successfully installed "op.v1.0.0"',
        "InstallPlan install-2 for the next hop requires approval: everpath upgrade op -n ns",
    ]
    assert answer.code == 0


def test_timeout_reports_what_the_operator_waits_for(everpath: Call) -> None:
    answer = everpath(make_cluster(), *COMMAND, "--timeout", "10s")
    assert answer.out.splitlines()[-5:-3] == [
        "Timed out: nothing is installed",
        "Waiting for the registry server at 10.0.0.7:50051 to accept connections from OLM",
    ]
    assert answer.code == 1


def test_permanent_failure_ends_before_the_timeout(everpath: Call) -> None:
    cluster = make_cluster()

    def fail() -> None:
        cluster.put(
            SUBSCRIPTION,
            subscription("", "op.v1.0.0", state="UpgradePending", plan="install-1", channel="stable"),
        )
        cluster.put(INSTALL_PLAN, install_plan("Failed", "op.v1.0.0", message="too large"))

    answer = everpath(cluster, *COMMAND, "--timeout", "1h", steps=(connect_catalog(cluster), fail))
    assert "Waiting for a new InstallPlan; install-1 failed: too large" in answer.out
    assert "Timed out" not in answer.out
    assert answer.code == 1


def test_existing_catalog_source_can_be_selected(everpath: Call) -> None:
    cluster = make_cluster(catalog_source=catalog_source())
    command = ("install", "op", "--catalog-name", "op-catalog", "-n", "ns", "--no-wait")
    assert everpath(cluster, *command).code == 0
    assert cluster.objects[ObjectRef(SUBSCRIPTION, "ns", "op")]["spec"]["source"] == "op-catalog"
    answer = everpath(
        make_cluster(catalog_source=catalog_source()),
        "install",
        "op",
        "--catalog-name",
        "op-catalg",
        "-n",
        "ns",
    )
    assert answer.code == 2
    assert "did you mean 'op-catalog'?" in answer.err


def test_denied_request_leaves_nothing_behind(everpath: Call) -> None:
    cluster = make_cluster()
    cluster.put(NAMESPACE, {"metadata": {"name": "ns"}})
    cluster.denied_kinds = {SUBSCRIPTION}
    answer = everpath(cluster, *COMMAND)
    assert (answer.code, cluster.log, answer.out) == (4, [], "")
    assert "cannot patch Subscription op" in answer.err


def test_namespace_in_deletion_is_refused(everpath: Call) -> None:
    cluster = make_cluster()
    cluster.put(NAMESPACE, {"metadata": {"name": "ns", "deletionTimestamp": "2026-01-01T00:00:00Z"}})
    answer = everpath(cluster, *COMMAND)
    assert answer.code == 2
    assert "namespace ns is being deleted" in answer.err


def test_cluster_without_olm_is_reported(everpath: Call) -> None:
    answer = everpath(FakeCluster(has_olm=False), *COMMAND)
    assert answer.code == 4
    assert "OLM is not installed" in answer.err


def test_default_namespace_is_that_of_the_context(everpath: Call) -> None:
    cluster = FakeCluster(namespace="mine")
    everpath(cluster, "install", "op", "--catalog", "10.0.0.7:50051", "--no-wait")
    assert ObjectRef(SUBSCRIPTION, "mine", "op") in cluster.objects


def test_json_output_conforms_to_the_schema(everpath: Call) -> None:
    cluster = make_cluster()
    steps = (
        connect_catalog(cluster),
        create_install_plan(cluster, "install-1", "op.v1.0.0"),
        execute_install_plan(cluster, "install-1", "op.v1.0.0"),
        start_csv(cluster, "op.v1.0.0"),
    )
    answer = everpath(cluster, *COMMAND, "-o", "json", steps=steps)
    report = json.loads(answer.out)
    conforms("install", report)
    assert report["outcome"] == "done"
    assert report["running"] == "op.v1.0.0"
    assert [change["type"] for change in report["changes"]] == ["created"] * 4
    assert "Created Subscription op" in answer.err
    timed_out = json.loads(everpath(make_cluster(), *COMMAND, "-o", "json", "--timeout", "5s").out)
    conforms("install", timed_out)
    assert timed_out["outcome"] == "deadline"
    not_followed = json.loads(everpath(make_cluster(), *COMMAND, "-o", "json", "--no-wait").out)
    conforms("install", not_followed)
    assert not_followed["outcome"] == "not-followed"


def spec(answer: Answer, kind: str) -> dict[str, object]:
    """Return the spec of the only printed object of a kind."""
    (found,) = [each for each in yaml.safe_load_all(answer.out) if each["kind"] == kind]
    result: dict[str, object] = found["spec"]
    return result


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (
            ("--catalog", "q.io/a/c:1"),
            {
                "image": "q.io/a/c:1",
                "grpcPodConfig": {
                    "securityContextConfig": "restricted",
                    "extractContent": {"catalogDir": "/configs"},
                },
            },
        ),
        (
            ("--catalog", "docker://q.io/a/c:1", "--serves-itself", "--poll", "10m"),
            {
                "image": "q.io/a/c:1",
                "grpcPodConfig": {"securityContextConfig": "restricted"},
                "updateStrategy": {"registryPoll": {"interval": "10m"}},
            },
        ),
        (("--catalog", "registry.olm.svc:50051"), {"address": "registry.olm.svc:50051"}),
        (("--catalog", "[::1]:50051"), {"address": "[::1]:50051"}),
    ],
)
def test_catalog_source_spec_depends_on_the_catalog(
    everpath: Call, options: tuple[str, ...], expected: dict[str, object]
) -> None:
    answer = everpath(make_cluster(), "install", "op", *options, "-n", "ns", "--dry-run")
    printed = spec(answer, "CatalogSource")
    assert {
        key: printed[key] for key in printed if key not in ("displayName", "publisher", "sourceType")
    } == expected


def test_dry_run_prints_json_list(everpath: Call) -> None:
    options = ("--catalog", "q.io/a/c:1", "-n", "ns", "--dry-run")
    yaml_answer = everpath(make_cluster(), "install", "op", *options)
    answer = everpath(make_cluster(), "install", "op", *options, "-o", "json")
    assert (answer.code, answer.err) == (0, "")
    document = json.loads(answer.out)
    assert (document["apiVersion"], document["kind"]) == ("v1", "List")
    assert document["items"] == list(yaml.safe_load_all(yaml_answer.out))


def test_dry_run_sends_no_request(everpath: Call) -> None:
    cluster = FakeCluster(has_olm=False)
    answer = everpath(cluster, *COMMAND, "--dry-run", "--starting-csv", "v1.0.0", "--watch-namespaces", "a,b")
    assert answer.code == 0
    assert spec(answer, "OperatorGroup") == {"targetNamespaces": ["a", "b"]}
    assert spec(answer, "Subscription")["startingCSV"] == "op.v1.0.0"
    assert cluster.log == []


def test_dry_run_prints_objects_for_olm_v1(everpath: Call) -> None:
    answer = everpath(
        make_cluster(), "install", "op", "--catalog", "q.io/a/c:1", "-n", "ns", "--dry-run", "--olm", "v1",
        "--channel", "stable", "--poll", "90s", "--starting-csv", "op.v1.0.0",
    )  # fmt: skip
    assert spec(answer, "ClusterCatalog")["source"] == {
        "type": "Image",
        "image": {"ref": "q.io/a/c:1", "pollIntervalMinutes": 1},
    }
    assert spec(answer, "ClusterExtension")["source"] == {
        "sourceType": "Catalog",
        "catalog": {"packageName": "op", "channels": ["stable"], "version": "1.0.0"},
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-n", "ns"), "no catalog is given"),
        (("-n", "ns", "--catalog", "oci:folder"), "a cluster cannot pull oci:folder"),
        (("-n", "ns", "--catalog", "q.io/A/c"), "is not a repository"),
        (("-n", "ns", "--catalog", "a:1", "--approve", "--approval", "Automatic"), "--approve requires"),
        (("-n", "ns", "--catalog", "a:1", "--poll", "5m"), "--poll requires a catalog image"),
        (("-n", "ns", "--catalog", "q.io/a/c", "--poll", "soon"), "--poll 'soon' is not a duration"),
        (("-n", "ns", "--catalog", "a:1", "--serves-itself"), "--serves-itself requires a catalog image"),
        (("-n", "ns", "--catalog", "a:1", "--install-mode", "SingleNamespace"), "--install-mode"),
        (("-n", "ns", "--catalog", "a:1", "--install-mode", "Own"), "--install-mode 'Own' is invalid"),
        (
            ("-n", "ns", "--catalog", "a:1", "--install-mode", "OwnNamespace", "--watch-namespaces", "b"),
            "exclude each other",
        ),
        (("-n", "Ns", "--catalog", "a:1"), "namespace 'Ns' is not a valid Kubernetes name"),
        (("-n", "ns", "--catalog", "a:1", "--timeout", "soon"), "--timeout 'soon' is not a duration"),
        (("-n", "ns", "--catalog", "a:1", "--olm", "v1"), "with OLM v0 only"),
        (
            ("-n", "ns", "--catalog", "a:1", "--olm", "v1", "--dry-run"),
            "OLM v1 supports only catalog images",
        ),
        (("--catalog", "a:1", "--dry-run"), "--dry-run needs a namespace"),
    ],
)
def test_invalid_options_are_refused(everpath: Call, options: tuple[str, ...], message: str) -> None:
    cluster = make_cluster()
    answer = everpath(cluster, "install", "op", *options)
    assert answer.code == 2
    assert message in answer.err
    assert cluster.log == []
