"""`podTemplate`: merged over pods of configuration version 5, ignored before. The heap follows the limit."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.dashboards import dashboards_deployment
from searchkeeper.desired.manifests import search_pool, stateful_set
from searchkeeper.desired.names import TEMPLATE
from searchkeeper.desired.quantities import parse_quantity

POOL = {"name": "all", "roles": ["cluster_manager", "data"], "replicas": 3}
FS_GROUP = 1000


def desired(template: Any = None, version: int = 5) -> DesiredCluster:
    pool = POOL if template is None else {**POOL, "podTemplate": template}
    dashboards = {"enabled": True, **({} if template is None else {"podTemplate": template})}
    raw = {"version": "2.19.4", "pools": [pool], "dashboards": dashboards}
    return DesiredCluster("logs", "search", "uid", decode_cluster_spec(raw), version)


def template_of(cluster: DesiredCluster) -> dict[str, Any]:
    made: dict[str, Any] = stateful_set(cluster, cluster.spec.pools[0], "2.19.4", None)["spec"]["template"]
    return made


def node(**parts: Any) -> dict[str, Any]:
    cluster = desired({"spec": {"containers": [{"name": "opensearch", **parts}]}})
    made: dict[str, Any] = template_of(cluster)["spec"]["containers"][0]
    return made


def values(container: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in container["env"]}


def test_labels_and_annotations_are_added() -> None:
    plain = template_of(desired())["metadata"]
    made = template_of(desired({"metadata": {"labels": {"team": "a"}, "annotations": {"note": "b"}}}))[
        "metadata"
    ]
    assert made["labels"] == {**plain["labels"], "team": "a"}
    assert made["annotations"].items() >= {"note": "b"}.items()
    assert made["annotations"].keys() == {*plain["annotations"], "note"}


def test_container_of_the_operator_is_merged_by_name_and_stays_first() -> None:
    sidecar = {"name": "shipper", "image": "shipper:1"}
    limits = {"limits": {"memory": "2Gi"}}
    cluster = desired(
        {
            "spec": {
                "containers": [sidecar, {"name": "opensearch", "resources": limits, "env": [{"name": "A"}]}]
            }
        }
    )
    first, second = template_of(cluster)["spec"]["containers"]
    assert second == sidecar
    assert first["resources"] == limits
    assert first["image"].endswith(":2.19.4")
    assert {"node.name", "node.roles", "A"} <= values(first).keys()


def test_volumes_and_mounts_are_added_to_those_of_the_operator() -> None:
    words = {"name": "words", "configMap": {"name": "words"}}
    mount = {"name": "words", "mountPath": "/usr/share/opensearch/config/words"}
    plain, cluster = (
        template_of(desired())["spec"],
        desired(
            {"spec": {"volumes": [words], "containers": [{"name": "opensearch", "volumeMounts": [mount]}]}}
        ),
    )
    made = template_of(cluster)["spec"]
    assert made["volumes"] == [*plain["volumes"], words]
    mounts = plain["containers"][0]["volumeMounts"]
    assert made["containers"][0]["volumeMounts"] == [*mounts, mount]


def test_security_context_of_the_user_leaves_the_group_to_the_platform() -> None:
    """Security context constraints of OpenShift assign user and group, and refuse an fsGroup."""
    hardened = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    assert template_of(desired())["spec"]["securityContext"] == {**hardened, "fsGroup": FS_GROUP}
    assert template_of(desired({"spec": {"securityContext": {}}}))["spec"]["securityContext"] == hardened
    given = {"fsGroup": 2000, "runAsUser": 2000}
    made = template_of(desired({"spec": {"securityContext": given}}))["spec"]["securityContext"]
    assert made == {**hardened, **given}


def test_affinity_is_merged_and_scheduling_replaced() -> None:
    zones = [
        {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule"}
    ]
    given = {
        "affinity": {"nodeAffinity": {"x": 1}},
        "topologySpreadConstraints": zones,
        "nodeSelector": {"a": "b"},
    }
    made = template_of(desired({"spec": given}))["spec"]
    assert made["affinity"].keys() == {"podAntiAffinity", "nodeAffinity"}
    assert made["topologySpreadConstraints"] == zones
    assert made["nodeSelector"] == {"a": "b"}


def test_probe_of_the_user_replaces_that_of_the_operator() -> None:
    """A probe with two handlers is rejected."""
    probe = {"exec": {"command": ["true"]}}
    assert node(livenessProbe=probe)["livenessProbe"] == probe


def test_nulls_count_as_missing() -> None:
    """The API server drops them, and would see a difference forever."""
    cluster = desired(
        {"spec": {"tolerations": None, "containers": [{"name": "opensearch", "resources": None}]}}
    )
    assert template_of(cluster) == template_of(desired())


def test_change_makes_pods_outdated() -> None:
    plain, changed = template_of(desired()), template_of(desired({"spec": {"priorityClassName": "high"}}))
    digests = [each["metadata"]["annotations"][TEMPLATE] for each in (plain, changed)]
    assert digests[0] != digests[1]


@pytest.mark.parametrize("version", [1, 2, 3, 4])
def test_earlier_versions_ignore_it(version: int) -> None:
    given, plain = desired({"spec": {"priorityClassName": "high"}}, version), desired(None, version)
    assert template_of(given) == template_of(plain)
    assert dashboards_deployment(given, "2.19.4") == dashboards_deployment(plain, "2.19.4")
    assert search_pool(given, given.spec.pools[0], "2.19.4") == search_pool(
        plain, plain.spec.pools[0], "2.19.4"
    )


def test_search_pool_has_it_for_the_spec_lock() -> None:
    template = {"spec": {"priorityClassName": "high"}}
    cluster = desired(template)
    assert search_pool(cluster, cluster.spec.pools[0], "2.19.4")["spec"]["podTemplate"] == template


def test_dashboards_are_merged_too() -> None:
    limits = {"limits": {"memory": "1Gi"}}
    cluster = desired(
        {"spec": {"containers": [{"name": "dashboards", "resources": limits}], "tolerations": [{}]}}
    )
    pod = dashboards_deployment(cluster, "2.19.4")["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert container["resources"] == limits
    assert "OPENSEARCH_JAVA_OPTS" not in values(container)
    assert pod["tolerations"] == [{}]


@pytest.mark.parametrize(
    ("limit", "heap"),
    [
        ("4Gi", "2048m"),
        ("1500M", "715m"),
        (2147483648, "1024m"),
        ("62Gi", "31744m"),
        ("128Gi", "31744m"),
        ("1", "1m"),
    ],
)
def test_heap_is_half_of_the_memory_limit_and_at_most_31_gib(limit: Any, heap: str) -> None:
    assert (
        values(node(resources={"limits": {"memory": limit}}))["OPENSEARCH_JAVA_OPTS"]
        == f"-Xms{heap} -Xmx{heap}"
    )


def test_heap_is_that_of_the_image_without_a_limit_and_that_of_the_user_if_set() -> None:
    assert "OPENSEARCH_JAVA_OPTS" not in values(node(resources={"requests": {"memory": "4Gi"}}))
    given = {"name": "OPENSEARCH_JAVA_OPTS", "value": "-Xmx3g"}
    made = node(resources={"limits": {"memory": "4Gi"}}, env=[given])
    assert values(made)["OPENSEARCH_JAVA_OPTS"] == "-Xmx3g"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1),
        ("500m", 0.5),
        ("1k", 1000),
        ("1Ki", 1024),
        ("1.5Gi", 1.5 * 2**30),
        ("1e3", 1000),
        (".5", 0.5),
        (2, 2),
    ],
)
def test_quantities_are_numbers(text: Any, number: float) -> None:
    assert parse_quantity(text) == number


@pytest.mark.parametrize("text", ["", "x", "1 Gi", "1gi", None, True, [], "1e999999999"])
def test_other_texts_are_no_quantities(text: Any) -> None:
    assert parse_quantity(text) is None
