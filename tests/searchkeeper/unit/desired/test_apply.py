"""Three-way apply: desired fields are set, removed fields are removed, fields of other clients stay."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkeeper.desired.apply import LAST_APPLIED, apply, last_applied
from searchkeeper.kubernetes.operations import Create, Manifest, Patch
from searchkeeper.testing.fake_kubernetes.manifests import merge_patched, with_value
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore, create, patch, replace_object


def service(**spec: Any) -> Manifest:
    metadata = {"name": "logs", "namespace": "search"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec}


def create_applied(desired: Manifest) -> tuple[ObjectStore, Manifest]:
    operation = apply(desired, None)
    assert isinstance(operation, Create)
    return create(ObjectStore(), operation.manifest, now=0)


def patch_applied(cluster: ObjectStore, live: Manifest, desired: Manifest) -> Manifest:
    operation = apply(desired, live)
    assert isinstance(operation, Patch)
    return patch(cluster, operation)[1]


def test_missing_object_is_created() -> None:
    _, live = create_applied(service(type="ClusterIP"))
    assert live["spec"] == {"type": "ClusterIP"}


def test_second_apply_does_nothing() -> None:
    _, live = create_applied(service(ports=[{"port": 9200}]))
    assert apply(service(ports=[{"port": 9200}]), live) is None


def test_defaults_of_the_api_server_are_ignored() -> None:
    _, live = create_applied(service(ports=[{"port": 9200}]))
    filled = merge_patched(
        live, {"spec": {"ports": [{"port": 9200, "protocol": "TCP"}], "clusterIP": "10.0.0.1"}}
    )
    assert apply(service(ports=[{"port": 9200}]), filled) is None


def test_manual_change_is_reverted() -> None:
    cluster, live = create_applied(service(type="ClusterIP"))
    cluster, live = replace_object(cluster, merge_patched(live, {"spec": {"type": "NodePort"}}))
    assert patch_applied(cluster, live, service(type="ClusterIP"))["spec"]["type"] == "ClusterIP"


def test_field_that_is_no_longer_desired_is_removed() -> None:
    cluster, live = create_applied(service(selector={"app": "logs"}))
    new = patch_applied(cluster, live, service(selector={"app.kubernetes.io/instance": "logs"}))
    assert new["spec"]["selector"] == {"app.kubernetes.io/instance": "logs"}


def test_field_of_another_client_stays() -> None:
    cluster, live = create_applied(service(type="ClusterIP"))
    cluster, live = replace_object(cluster, merge_patched(live, {"metadata": {"labels": {"team": "search"}}}))
    new = patch_applied(cluster, live, service(type="NodePort"))
    assert new["metadata"]["labels"] == {"team": "search"}


def test_patch_has_the_resource_version_of_the_live_object() -> None:
    _, live = create_applied(service(type="ClusterIP"))
    operation = apply(service(type="NodePort"), live)
    assert isinstance(operation, Patch)
    assert operation.resource_version == live["metadata"]["resourceVersion"]


def test_empty_object_that_the_api_server_drops_is_applied_once() -> None:
    _, live = create_applied(service(selector={}))
    without = with_value(live, "spec", "selector", to=None)
    assert apply(service(selector={}), without) is None
    assert apply(service(selector={"app": "logs"}), without) is not None


def ports(**named: int) -> list[dict[str, Any]]:
    return [{"name": name, "port": number} for name, number in named.items()]


def test_list_item_of_another_client_stays() -> None:
    cluster, live = create_applied(service(ports=ports(http=9200)))
    cluster, live = replace_object(
        cluster, merge_patched(live, {"spec": {"ports": ports(debug=1, http=9200)}})
    )
    assert apply(service(ports=ports(http=9200)), live) is None
    assert patch_applied(cluster, live, service(ports=ports(http=9201)))["spec"]["ports"] == ports(
        http=9201, debug=1
    )


def test_list_item_that_is_no_longer_desired_is_removed() -> None:
    cluster, live = create_applied(service(ports=ports(http=9200, transport=9300)))
    assert patch_applied(cluster, live, service(ports=ports(http=9200)))["spec"]["ports"] == ports(http=9200)


def test_duplicate_list_item_is_removed() -> None:
    cluster, live = create_applied(service(ports=ports(http=9200)))
    doubled = [*ports(http=9200), *ports(http=1)]
    cluster, live = replace_object(cluster, merge_patched(live, {"spec": {"ports": doubled}}))
    assert patch_applied(cluster, live, service(ports=ports(http=9200)))["spec"]["ports"] == ports(http=9200)


def test_union_is_replaced_as_a_whole() -> None:
    """The API server rejects an object with two members of a union."""
    cluster, live = create_applied(service(updateStrategy={"type": "OnDelete"}))
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    cluster, live = replace_object(cluster, merge_patched(live, {"spec": {"updateStrategy": rolling}}))
    reverted = patch_applied(cluster, live, service(updateStrategy={"type": "OnDelete"}))
    assert reverted["spec"]["updateStrategy"] == {"type": "OnDelete"}


def apply_and_edit(desired: Manifest, **changes: Any) -> tuple[ObjectStore, Manifest]:
    """Apply an object, then change fields of its spec as another client."""
    cluster, live = create_applied(desired)
    return replace_object(cluster, {**live, "spec": {**live["spec"], **changes}})


def test_field_that_was_removed_manually_is_restored() -> None:
    cluster, live = create_applied(service(type="ClusterIP", selector={"app": "logs"}))
    cluster, live = replace_object(cluster, {**live, "spec": {"type": "ClusterIP"}})
    assert patch_applied(cluster, live, service(type="ClusterIP", selector={"app": "logs"}))["spec"] == {
        "type": "ClusterIP",
        "selector": {"app": "logs"},
    }


def test_desired_annotations_are_applied_and_removed() -> None:
    desired = {**service(), "metadata": {**service()["metadata"], "annotations": {"mark": "one"}}}
    cluster, live = create_applied(desired)
    assert live["metadata"]["annotations"]["mark"] == "one"
    assert json.loads(live["metadata"]["annotations"][LAST_APPLIED]) == desired
    assert patch_applied(cluster, live, service())["metadata"]["annotations"].keys() == {LAST_APPLIED}


@pytest.mark.parametrize(
    "annotations", [None, {}, {"others": "x"}, {LAST_APPLIED: "[]"}, {LAST_APPLIED: "5"}], ids=str
)
def test_field_stays_without_a_valid_last_applied_annotation(annotations: dict[str, str] | None) -> None:
    cluster, live = create_applied(service(selector={"app": "logs"}))
    metadata = {**live["metadata"], "annotations": annotations}
    cluster, live = replace_object(cluster, {**live, "metadata": metadata})
    assert last_applied(live) == {}
    assert patch_applied(cluster, live, service(type="ClusterIP"))["spec"] == {
        "selector": {"app": "logs"},
        "type": "ClusterIP",
    }


def test_immutable_field_stays_as_created() -> None:
    def claims(size: str) -> list[Manifest]:
        return [{"metadata": {"name": "data"}, "spec": {"size": size}}]

    desired = service(volumeClaimTemplates=claims("1Gi"))
    assert apply(desired, apply_and_edit(desired, volumeClaimTemplates=claims("1024Mi"))[1]) is None
    cluster, live = create_applied(service(type="ClusterIP"))
    desired = service(type="ClusterIP", volumeClaimTemplates=claims("1Gi"))
    assert patch_applied(cluster, live, desired)["spec"]["volumeClaimTemplates"] == claims("1Gi")


@pytest.mark.parametrize(
    ("before", "desired"),
    [
        ([{"name": "a"}], []),
        ([{"name": "a"}], 5),
        ([{"name": "a"}], [{"port": 1}]),
        ([{"port": 1}], [{"name": "a"}]),
        (["my-name"], ["your-name"]),
        ([{"name": "a"}, "my-name"], [{"name": "b"}, "my-name"]),
    ],
    ids=str,
)
def test_list_without_a_common_merge_key_is_replaced(before: Any, desired: Any) -> None:
    cluster, live = apply_and_edit(service(), items=before)
    assert patch_applied(cluster, live, service(items=desired))["spec"]["items"] == desired


@pytest.mark.parametrize("earlier", [None, 5, "name", ["my-name"], [{"port": 1}]], ids=str)
def test_list_is_merged_whatever_was_applied_before(earlier: Any) -> None:
    cluster, live = create_applied(service(items=earlier))
    cluster, live = replace_object(cluster, {**live, "spec": {"items": [{"name": "theirs"}]}})
    assert patch_applied(cluster, live, service(items=[{"name": "ours"}]))["spec"]["items"] == [
        {"name": "ours"},
        {"name": "theirs"},
    ]


def test_item_that_another_client_added_first_is_adopted() -> None:
    cluster, live = apply_and_edit(
        service(items=[{"name": "a"}]), items=[{"name": "a"}, {"name": "b", "x": 1}]
    )
    desired = service(items=[{"name": "a"}, {"name": "b", "x": 2}])
    assert patch_applied(cluster, live, desired)["spec"]["items"] == [{"name": "a"}, {"name": "b", "x": 2}]


def test_containers_are_merged_by_field_and_other_items_are_replaced() -> None:
    """The API server rejects an env variable with both a value and a source."""
    old, new = [{"name": "a", "value": "1"}], [{"name": "a", "value": "2"}]
    theirs = [{"name": "a", "value": "1", "limits": "theirs"}]
    cluster, live = apply_and_edit(service(containers=old, env=old), containers=theirs, env=theirs)
    assert apply(service(containers=old, env=old), live) is None
    spec = patch_applied(cluster, live, service(containers=[*new, {"name": "b"}], env=new))["spec"]
    assert spec["containers"] == [{"name": "a", "value": "2", "limits": "theirs"}, {"name": "b"}]
    assert spec["env"] == new


def test_tuples_and_lists_are_equal() -> None:
    _, live = create_applied(service(items=[{"name": "a"}], words=["a", "b"]))
    assert apply(service(items=[{"name": "a"}], words=["a", "b"]), live) is None
    assert apply(service(items=({"name": "a"},), words=("a", "b")), live) is None
    rows = {**live, "spec": {"items": ({"name": "a"},), "words": ("a", "b")}}
    assert apply(service(items=[{"name": "a"}], words=["a", "b"]), rows) is None


def test_invalid_last_applied_annotation_is_replaced() -> None:
    cluster, live = create_applied(service(type="ClusterIP"))
    cluster, live = replace_object(cluster, with_value(live, "metadata", "annotations", LAST_APPLIED, to="{"))
    assert last_applied(live) == {}
    assert last_applied(patch_applied(cluster, live, service(type="ClusterIP")))["spec"] == {
        "type": "ClusterIP"
    }


def secret(**entries: str) -> Manifest:
    metadata = {"name": "logs", "namespace": "search"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": entries}


def test_values_of_a_secret_are_only_in_its_data() -> None:
    cluster, live = create_applied(secret(password="c2VjcmV0"))
    changed = patch_applied(cluster, live, secret(password="b3RoZXI="))
    for secret_object, value in ((live, "c2VjcmV0"), (changed, "b3RoZXI=")):
        assert secret_object["data"] == {"password": value}
        assert value not in json.dumps(secret_object["metadata"])


def test_secret_may_be_empty() -> None:
    empty = {**service(), "kind": "Secret"}
    assert apply(empty, create_applied(empty)[1]) is None


def test_entry_of_a_secret_that_is_no_longer_desired_is_removed() -> None:
    cluster, live = create_applied(secret(username="YQ==", password="Yg=="))
    assert patch_applied(cluster, live, secret(password="Yg=="))["data"] == {"password": "Yg=="}


def test_last_applied_annotation_with_secret_values_is_replaced() -> None:
    cluster, live = create_applied(secret(password="c2VjcmV0"))
    with_values = json.dumps(secret(password="c2VjcmV0"))
    cluster, live = replace_object(
        cluster, with_value(live, "metadata", "annotations", LAST_APPLIED, to=with_values)
    )
    assert "c2VjcmV0" not in json.dumps(patch_applied(cluster, live, secret(password="c2VjcmV0"))["metadata"])


NAMED = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), max_size=3).map(
    lambda named: ports(**named)
)
VALUES = st.recursive(
    st.sampled_from(["a", "b", 1, True]) | NAMED,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)
SPECS = st.dictionaries(st.sampled_from(["p", "q", "containers", "updateStrategy"]), VALUES, max_size=3)


@given(SPECS, SPECS)
def test_one_patch_reaches_the_desired_state(before: dict[str, Any], desired: dict[str, Any]) -> None:
    cluster, live = create_applied(service(**before))
    operation = apply(service(**desired), live)
    if isinstance(operation, Patch):
        _, live = patch(cluster, operation)
    assert apply(service(**desired), live) is None
    assert set(desired) == set(live["spec"])


def with_container(**parts: Any) -> dict[str, Any]:
    metadata = {"name": "logs-data", "namespace": "search"}
    spec = {"template": {"spec": {"containers": [{"name": "opensearch", **parts}]}}}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": spec}


def stored_object(created: Any, **parts: Any) -> dict[str, Any]:
    """What the API server stores of a created object, with other values in its container."""
    live: dict[str, Any] = deepcopy(created.manifest)
    live["metadata"]["resourceVersion"] = "1"
    live["spec"]["template"]["spec"]["containers"][0] |= parts
    return live


def test_normalised_quantities_are_no_difference() -> None:
    desired = with_container(
        resources={"limits": {"cpu": "1000m", "memory": "1024Mi"}, "requests": {"cpu": 2}}
    )
    normalised = {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "2"}}
    assert apply(desired, stored_object(apply(desired, None), resources=normalised)) is None


@pytest.mark.parametrize(
    "limits", [{"cpu": "2"}, {"cpu": "1", "memory": "1Gi"}, {"memory": "1"}, {"cpu": "?"}, None]
)
def test_other_quantities_are_a_difference(limits: Any) -> None:
    desired = with_container(resources={"limits": {"cpu": "1"}})
    other = with_container(resources={"limits": limits})
    assert apply(other, stored_object(apply(desired, None))) is not None


def test_empty_value_that_the_api_server_drops_is_applied_once() -> None:
    desired = with_container(env=[{"name": "A", "value": ""}], args=[])
    live = stored_object(apply(desired, None), env=[{"name": "A"}])
    del live["spec"]["template"]["spec"]["containers"][0]["args"]
    assert apply(desired, live) is None
