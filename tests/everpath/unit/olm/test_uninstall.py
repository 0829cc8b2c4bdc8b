"""`everpath uninstall`: the order of deletion, what is kept, and what other operators need."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from everpath.olm.objects import (
    CATALOG_SOURCE,
    CRD,
    CSV,
    OPERATOR_GROUP,
    PVC,
    SUBSCRIPTION,
    Kind,
    Object,
    ObjectRef,
)
from tests.support.commandline import Answer
from tests.support.everpath.fake_cluster import (
    FakeCluster,
    catalog_source,
    crd,
    csv,
    deployment,
    install_plan,
    make_cluster,
    operator_group,
    subscription,
)
from tests.support.everpath.fake_olm import Step, delete_object, wait
from tests.support.schemas import conforms

Call = Callable[..., Answer]
COMMAND = ("uninstall", "op", "-n", "ns", "--yes")
OP = Kind("example.com/v1", "Op", "ops")


def custom_resource(name: str, namespace: str = "ns", *finalizers: str) -> Object:
    return {"metadata": {"name": name, "namespace": namespace, "finalizers": list(finalizers)}}


def running_cluster(*target_namespaces: str) -> FakeCluster:
    group = operator_group("og", *target_namespaces)
    group["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "everpath"}
    cluster = make_cluster(
        catalog_source=catalog_source(),
        operator_group=group,
        subscription=subscription("op.v1.0.0", "op.v1.0.0", state="AtLatestKnown", plan="install-1"),
        install_plan=install_plan("Complete", "op.v1.0.0"),
        csv=csv("op.v1.0.0"),
        deployment=deployment(),
        crd=crd(),
    )
    cluster.put(OP, custom_resource("first"))
    cluster.put(OP, custom_resource("far", "other"))
    cluster.put(PVC, {"metadata": {"name": "data-0", "namespace": "ns"}})
    return cluster


def test_custom_resources_are_deleted_before_the_operator(everpath: Call) -> None:
    cluster = running_cluster()
    answer = everpath(cluster, *COMMAND)
    assert cluster.log == [
        "delete Op first",
        "delete Op far",
        "delete Subscription op",
        "delete ClusterServiceVersion op.v1.0.0",
        "delete OperatorGroup og",
    ]
    assert answer.out.splitlines()[-2:] == [
        "Operator op uninstalled",
        "PersistentVolumeClaims are kept: delete them if you do not need their data",
    ]
    assert "Keep: PersistentVolumeClaim data-0" in answer.out
    assert "Keep: CustomResourceDefinition ops.example.com" in answer.out
    assert "Keep: CatalogSource op-catalog" in answer.out
    assert answer.code == 0


def test_operator_is_kept_until_finalizers_are_removed(everpath: Call) -> None:
    cluster = running_cluster()
    cluster.put(OP, custom_resource("slow", "ns", "example.com/backup"))
    csv_exists: list[bool] = []
    steps = (
        lambda: csv_exists.append(ObjectRef(CSV, "ns", "op.v1.0.0") in cluster.objects),
        delete_object(cluster, ObjectRef(OP, "ns", "slow")),
    )
    answer = everpath(cluster, *COMMAND, steps=steps)
    assert csv_exists == [True]
    assert "Waiting for deletion of Op slow" in answer.out
    assert answer.code == 0


@pytest.mark.parametrize(("seconds", "code"), [(3, 0), (400, 4)])
def test_unreachable_cluster_is_retried_until_the_timeout(everpath: Call, seconds: int, code: int) -> None:
    cluster = running_cluster()
    cluster.put(OP, custom_resource("slow", "ns", "example.com/backup"))

    def set_unreachable(value: bool) -> Step:
        return lambda: setattr(cluster, "is_unreachable", value)

    steps = (
        set_unreachable(True),
        *(wait,) * seconds,
        set_unreachable(False),
        delete_object(cluster, ObjectRef(OP, "ns", "slow")),
    )
    answer = everpath(cluster, *COMMAND, steps=steps)
    assert answer.out.count("the cluster does not respond; retrying") == 1
    assert answer.code == code


def test_custom_resource_that_remains_keeps_the_operator(everpath: Call) -> None:
    cluster = running_cluster()
    cluster.put(OP, custom_resource("stuck", "ns", "example.com/backup"))
    answer = everpath(cluster, *COMMAND, "--timeout", "10s")
    assert "Not deleted: Op stuck has the finalizers example.com/backup" in answer.out
    assert "delete Subscription op" not in cluster.log
    assert ObjectRef(CSV, "ns", "op.v1.0.0") in cluster.objects
    assert answer.code == 1


def test_custom_resources_in_namespaces_that_are_not_watched_are_kept(everpath: Call) -> None:
    cluster = running_cluster("ns")
    everpath(cluster, *COMMAND)
    assert ObjectRef(OP, "other", "far") in cluster.objects
    assert ObjectRef(OP, "ns", "first") not in cluster.objects


def test_custom_resources_can_be_kept(everpath: Call) -> None:
    cluster = running_cluster()
    answer = everpath(cluster, *COMMAND, "--keep-custom-resources")
    assert ObjectRef(OP, "ns", "first") in cluster.objects
    assert "Keep: Op first" in answer.out


def test_operator_group_without_the_label_of_everpath_is_kept(everpath: Call) -> None:
    cluster = running_cluster()
    cluster.put(OPERATOR_GROUP, operator_group("og"))
    everpath(cluster, *COMMAND)
    assert "delete OperatorGroup og" not in cluster.log


def test_operator_group_of_another_subscription_is_kept(everpath: Call) -> None:
    cluster = running_cluster()
    other = subscription(name="other")
    other["spec"]["name"] = "other"
    cluster.put(SUBSCRIPTION, other)
    everpath(cluster, *COMMAND)
    assert "delete OperatorGroup og" not in cluster.log
    assert "delete Subscription other" not in cluster.log


def test_crds_and_catalog_source_are_deleted_with_the_options(everpath: Call) -> None:
    cluster = running_cluster()
    everpath(cluster, *COMMAND, "--delete-crds", "--delete-catalog")
    assert cluster.log[-2:] == [
        "delete CatalogSource op-catalog",
        "delete CustomResourceDefinition ops.example.com",
    ]


def test_crds_of_another_operator_are_not_deleted(everpath: Call) -> None:
    cluster = running_cluster()
    other = csv("rival.v1")
    other["metadata"]["namespace"] = "other"
    cluster.put(CSV, other)
    answer = everpath(cluster, *COMMAND, "--delete-crds")
    assert answer.code == 2
    assert "other operators need the CustomResourceDefinitions: rival.v1 in namespace other" in answer.err
    assert cluster.log == []


def test_catalog_source_of_another_subscription_is_not_deleted(everpath: Call) -> None:
    cluster = running_cluster()
    other = subscription(name="other")
    other["metadata"]["namespace"] = "other"
    cluster.put(SUBSCRIPTION, other)
    answer = everpath(cluster, *COMMAND, "--delete-catalog")
    assert answer.code == 2
    assert "other Subscriptions use CatalogSource op-catalog: other/other" in answer.err
    assert cluster.log == []


@pytest.mark.parametrize("options", [("--dry-run",), ()])
def test_nothing_is_deleted_without_confirmation(everpath: Call, options: tuple[str, ...]) -> None:
    cluster = running_cluster()
    answer = everpath(cluster, "uninstall", "op", "-n", "ns", *options)
    assert "Delete: ClusterServiceVersion op.v1.0.0" in answer.out
    assert answer.code == (0 if options else 2)
    assert cluster.log == []


def test_uninstall_of_missing_operator_succeeds(everpath: Call) -> None:
    answer = everpath(make_cluster(), *COMMAND)
    assert answer.out == "Nothing to uninstall: op is not installed in namespace ns\n"
    assert answer.code == 0


def test_new_object_with_the_same_name_is_not_waited_for(everpath: Call) -> None:
    cluster = running_cluster()
    cluster.put(OP, custom_resource("slow", "ns", "example.com/backup"))

    def recreate() -> None:
        cluster.objects.pop(ObjectRef(OP, "ns", "slow"))
        cluster.put(OP, custom_resource("slow", "ns", "example.com/backup"))

    assert everpath(cluster, *COMMAND, "--timeout", "10s", steps=(recreate,)).code == 0


def test_delete_crds_excludes_keep_custom_resources(everpath: Call) -> None:
    answer = everpath(running_cluster(), *COMMAND, "--delete-crds", "--keep-custom-resources")
    assert answer.code == 2


def test_operator_that_is_not_running_causes_a_warning(everpath: Call) -> None:
    cluster = running_cluster()
    cluster.put(CSV, csv("op.v1.0.0", "Failed"))
    assert "The operator is not running" in everpath(cluster, *COMMAND).out


@pytest.mark.parametrize(
    ("options", "outcome"), [((), "done"), (("--dry-run",), "planned"), (("--timeout", "5s"), "deadline")]
)
def test_json_output_conforms_to_the_schema(everpath: Call, options: tuple[str, ...], outcome: str) -> None:
    cluster = running_cluster()
    if outcome == "deadline":
        cluster.put(OP, custom_resource("stuck", "ns", "example.com/backup"))
    report = json.loads(everpath(cluster, *COMMAND, "-o", "json", *options).out)
    conforms("uninstall", report)
    assert report["outcome"] == outcome
    assert bool(report["remaining"]) == (outcome == "deadline")


def test_interrupted_uninstall_can_be_continued(everpath: Call) -> None:
    cluster = running_cluster()
    labelled = csv("op.v1.0.0")
    labelled["metadata"]["labels"] = {"operators.coreos.com/op.ns": ""}
    cluster.put(CSV, labelled)
    catalog = catalog_source()
    catalog["metadata"]["labels"] = {"app.kubernetes.io/managed-by": "everpath"}
    cluster.put(CATALOG_SOURCE, catalog)
    del cluster.objects[ObjectRef(SUBSCRIPTION, "ns", "op")]
    answer = everpath(cluster, *COMMAND, "--delete-catalog")
    assert "delete ClusterServiceVersion op.v1.0.0" in cluster.log
    assert "delete CatalogSource op-catalog" in cluster.log
    assert answer.code == 0


def test_csvs_of_other_packages_are_kept(everpath: Call) -> None:
    cluster = running_cluster()
    cluster.put(CSV, csv("other.v1"))
    everpath(cluster, *COMMAND)
    assert ObjectRef(CSV, "ns", "other.v1") in cluster.objects
    assert "delete OperatorGroup og" not in cluster.log


def test_crds_are_deleted_after_the_operator_is_gone(everpath: Call) -> None:
    """They are found by the label of OLM."""
    cluster = running_cluster("ns")
    labelled = crd()
    labelled["metadata"]["labels"] = {"operators.coreos.com/op.ns": ""}
    cluster.put(CRD, labelled)
    for kind, name in ((SUBSCRIPTION, "op"), (CSV, "op.v1.0.0")):
        del cluster.objects[ObjectRef(kind, "ns", name)]
    assert "delete CustomResourceDefinition ops.example.com" not in cluster.log
    answer = everpath(cluster, *COMMAND, "--delete-crds")
    assert cluster.log[-1] == "delete CustomResourceDefinition ops.example.com"
    assert answer.code == 0


def test_custom_resources_in_other_namespaces_are_deleted_with_their_crd(everpath: Call) -> None:
    cluster = running_cluster("ns")
    answer = everpath(cluster, *COMMAND, "--delete-crds")
    assert "Delete: Op far in namespace other" in answer.out
    assert cluster.log[:2] == ["delete Op first", "delete Op far"]
    assert "Deleted Op far in namespace other" in answer.out


@pytest.mark.parametrize("names", [(), ("one", "two")])
def test_without_operator_group_only_the_own_namespace_counts_as_watched(
    everpath: Call, names: tuple[str, ...]
) -> None:
    cluster = running_cluster()
    del cluster.objects[ObjectRef(OPERATOR_GROUP, "ns", "og")]
    for name in names:
        cluster.put(OPERATOR_GROUP, operator_group(name))
    everpath(cluster, *COMMAND)
    assert ObjectRef(OP, "other", "far") in cluster.objects
    assert ObjectRef(OP, "ns", "first") not in cluster.objects


@pytest.mark.parametrize(("annotation", "is_kept"), [("ns", True), ("ns,other", False), ("", False)])
def test_watched_namespaces_are_read_from_the_annotation_of_the_csv(
    everpath: Call, annotation: str, is_kept: bool
) -> None:
    cluster = running_cluster("ns")
    annotated = csv("op.v1.0.0")
    annotated["metadata"]["annotations"] = {"olm.targetNamespaces": annotation}
    cluster.put(CSV, annotated)
    everpath(cluster, *COMMAND)
    assert (ObjectRef(OP, "other", "far") in cluster.objects) == is_kept


def test_long_package_label_is_truncated_like_in_olm(everpath: Call) -> None:
    cluster = running_cluster()
    namespace = "n" * 63
    labelled = csv("op.v1.0.0")
    labelled["metadata"] |= {"namespace": namespace, "labels": {f"operators.coreos.com/op.{'n' * 60}": ""}}
    cluster.put(CSV, labelled)
    everpath(cluster, "uninstall", "op", "-n", namespace, "--yes", "--keep-custom-resources")
    assert ObjectRef(CSV, namespace, "op.v1.0.0") not in cluster.objects
