"""Applying an object changes its own fields and no others."""

from __future__ import annotations

import json
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


def applied(wanted: Manifest) -> tuple[ObjectStore, Manifest]:
    write = apply(wanted, None)
    assert isinstance(write, Create)
    return create(ObjectStore(), write.manifest, now=0)


def after(cluster: ObjectStore, live: Manifest, wanted: Manifest) -> Manifest:
    write = apply(wanted, live)
    assert isinstance(write, Patch)
    return patch(cluster, write)[1]


def test_missing_object_is_created() -> None:
    _, live = applied(service(type="ClusterIP"))
    assert live["spec"] == {"type": "ClusterIP"}


def test_second_apply_is_no_operation() -> None:
    _, live = applied(service(ports=[{"port": 9200}]))
    assert apply(service(ports=[{"port": 9200}]), live) is None


def test_defaults_of_the_api_server_are_ignored() -> None:
    _, live = applied(service(ports=[{"port": 9200}]))
    filled = merge_patched(
        live, {"spec": {"ports": [{"port": 9200, "protocol": "TCP"}], "clusterIP": "10.0.0.1"}}
    )
    assert apply(service(ports=[{"port": 9200}]), filled) is None


def test_edited_field_is_reverted() -> None:
    cluster, live = applied(service(type="ClusterIP"))
    cluster, live = replace_object(cluster, merge_patched(live, {"spec": {"type": "NodePort"}}))
    assert after(cluster, live, service(type="ClusterIP"))["spec"]["type"] == "ClusterIP"


def test_field_no_longer_applied_is_removed() -> None:
    cluster, live = applied(service(selector={"app": "logs"}))
    new = after(cluster, live, service(selector={"app.kubernetes.io/instance": "logs"}))
    assert new["spec"]["selector"] == {"app.kubernetes.io/instance": "logs"}


def test_fields_of_other_writers_stay() -> None:
    cluster, live = applied(service(type="ClusterIP"))
    cluster, live = replace_object(cluster, merge_patched(live, {"metadata": {"labels": {"team": "search"}}}))
    new = after(cluster, live, service(type="NodePort"))
    assert new["metadata"]["labels"] == {"team": "search"}


def test_patch_has_the_observed_resource_version() -> None:
    _, live = applied(service(type="ClusterIP"))
    write = apply(service(type="NodePort"), live)
    assert isinstance(write, Patch)
    assert write.resource_version == live["metadata"]["resourceVersion"]


def test_empty_mapping_that_the_server_drops_is_applied_once() -> None:
    _, live = applied(service(selector={}))
    without = with_value(live, "spec", "selector", to=None)
    assert apply(service(selector={}), without) is None
    assert apply(service(selector={"app": "logs"}), without) is not None


def ports(**named: int) -> list[dict[str, Any]]:
    return [{"name": name, "port": number} for name, number in named.items()]


def test_named_list_items_of_other_writers_stay() -> None:
    cluster, live = applied(service(ports=ports(http=9200)))
    cluster, live = replace_object(
        cluster, merge_patched(live, {"spec": {"ports": ports(debug=1, http=9200)}})
    )
    assert apply(service(ports=ports(http=9200)), live) is None
    assert after(cluster, live, service(ports=ports(http=9201)))["spec"]["ports"] == ports(http=9201, debug=1)


def test_list_item_no_longer_applied_is_removed() -> None:
    cluster, live = applied(service(ports=ports(http=9200, transport=9300)))
    assert after(cluster, live, service(ports=ports(http=9200)))["spec"]["ports"] == ports(http=9200)


def test_duplicated_list_item_is_removed() -> None:
    cluster, live = applied(service(ports=ports(http=9200)))
    doubled = [*ports(http=9200), *ports(http=1)]
    cluster, live = replace_object(cluster, merge_patched(live, {"spec": {"ports": doubled}}))
    assert after(cluster, live, service(ports=ports(http=9200)))["spec"]["ports"] == ports(http=9200)


def test_exclusive_alternatives_are_replaced_not_merged() -> None:
    """An API server refuses an object that has both."""
    cluster, live = applied(service(updateStrategy={"type": "OnDelete"}))
    rolling = {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}
    cluster, live = replace_object(cluster, merge_patched(live, {"spec": {"updateStrategy": rolling}}))
    reverted = after(cluster, live, service(updateStrategy={"type": "OnDelete"}))
    assert reverted["spec"]["updateStrategy"] == {"type": "OnDelete"}


def edited(wanted: Manifest, **changes: Any) -> tuple[ObjectStore, Manifest]:
    """An object that was applied, and then changed by another writer."""
    cluster, live = applied(wanted)
    return replace_object(cluster, {**live, "spec": {**live["spec"], **changes}})


def test_removed_field_is_restored() -> None:
    cluster, live = applied(service(type="ClusterIP", selector={"app": "logs"}))
    cluster, live = replace_object(cluster, {**live, "spec": {"type": "ClusterIP"}})
    assert after(cluster, live, service(type="ClusterIP", selector={"app": "logs"}))["spec"] == {
        "type": "ClusterIP",
        "selector": {"app": "logs"},
    }


def test_annotations_are_applied_too() -> None:
    wanted = {**service(), "metadata": {**service()["metadata"], "annotations": {"mark": "one"}}}
    cluster, live = applied(wanted)
    assert live["metadata"]["annotations"]["mark"] == "one"
    assert json.loads(live["metadata"]["annotations"][LAST_APPLIED]) == wanted
    assert after(cluster, live, service())["metadata"]["annotations"].keys() == {LAST_APPLIED}


@pytest.mark.parametrize(
    "annotations", [None, {}, {"others": "x"}, {LAST_APPLIED: "[]"}, {LAST_APPLIED: "5"}], ids=str
)
def test_fields_stay_where_last_applied_is_missing(annotations: dict[str, str] | None) -> None:
    cluster, live = applied(service(selector={"app": "logs"}))
    metadata = {**live["metadata"], "annotations": annotations}
    cluster, live = replace_object(cluster, {**live, "metadata": metadata})
    assert last_applied(live) == {}
    assert after(cluster, live, service(type="ClusterIP"))["spec"] == {
        "selector": {"app": "logs"},
        "type": "ClusterIP",
    }


def test_volume_claim_templates_are_not_changed() -> None:
    def claims(size: str) -> list[Manifest]:
        return [{"metadata": {"name": "data"}, "spec": {"size": size}}]

    wanted = service(volumeClaimTemplates=claims("1Gi"))
    assert apply(wanted, edited(wanted, volumeClaimTemplates=claims("1024Mi"))[1]) is None
    cluster, live = applied(service(type="ClusterIP"))
    wanted = service(type="ClusterIP", volumeClaimTemplates=claims("1Gi"))
    assert after(cluster, live, wanted)["spec"]["volumeClaimTemplates"] == claims("1Gi")


@pytest.mark.parametrize(
    ("before", "wanted"),
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
def test_list_without_common_names_is_replaced_whole(before: Any, wanted: Any) -> None:
    cluster, live = edited(service(), items=before)
    assert after(cluster, live, service(items=wanted))["spec"]["items"] == wanted


@pytest.mark.parametrize("earlier", [None, 5, "name", ["my-name"], [{"port": 1}]], ids=str)
def test_list_is_applied_whatever_type_was_applied_before(earlier: Any) -> None:
    cluster, live = applied(service(items=earlier))
    cluster, live = replace_object(cluster, {**live, "spec": {"items": [{"name": "theirs"}]}})
    assert after(cluster, live, service(items=[{"name": "ours"}]))["spec"]["items"] == [
        {"name": "ours"},
        {"name": "theirs"},
    ]


def test_item_added_by_another_writer_first_is_not_duplicated() -> None:
    cluster, live = edited(service(items=[{"name": "a"}]), items=[{"name": "a"}, {"name": "b", "x": 1}])
    wanted = service(items=[{"name": "a"}, {"name": "b", "x": 2}])
    assert after(cluster, live, wanted)["spec"]["items"] == [{"name": "a"}, {"name": "b", "x": 2}]


def test_only_containers_keep_fields_of_other_writers() -> None:
    """An API server refuses a variable with a value and a source."""
    old, new = [{"name": "a", "value": "1"}], [{"name": "a", "value": "2"}]
    theirs = [{"name": "a", "value": "1", "limits": "theirs"}]
    cluster, live = edited(service(containers=old, env=old), containers=theirs, env=theirs)
    assert apply(service(containers=old, env=old), live) is None
    spec = after(cluster, live, service(containers=[*new, {"name": "b"}], env=new))["spec"]
    assert spec["containers"] == [{"name": "a", "value": "2", "limits": "theirs"}, {"name": "b"}]
    assert spec["env"] == new


def test_tuples_and_lists_are_equal() -> None:
    _, live = applied(service(items=[{"name": "a"}], words=["a", "b"]))
    assert apply(service(items=[{"name": "a"}], words=["a", "b"]), live) is None
    assert apply(service(items=({"name": "a"},), words=("a", "b")), live) is None
    rows = {**live, "spec": {"items": ({"name": "a"},), "words": ("a", "b")}}
    assert apply(service(items=[{"name": "a"}], words=["a", "b"]), rows) is None


def test_unreadable_last_applied_is_rewritten() -> None:
    cluster, live = applied(service(type="ClusterIP"))
    cluster, live = replace_object(cluster, with_value(live, "metadata", "annotations", LAST_APPLIED, to="{"))
    assert last_applied(live) == {}
    assert last_applied(after(cluster, live, service(type="ClusterIP")))["spec"] == {"type": "ClusterIP"}


def secret(**entries: str) -> Manifest:
    metadata = {"name": "logs", "namespace": "search"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": entries}


def test_secret_data_is_not_copied_to_annotations() -> None:
    cluster, live = applied(secret(password="c2VjcmV0"))
    changed = after(cluster, live, secret(password="b3RoZXI="))
    for each, kept in ((live, "c2VjcmV0"), (changed, "b3RoZXI=")):
        assert each["data"] == {"password": kept}
        assert kept not in json.dumps(each["metadata"])


def test_empty_secret_is_applied_once() -> None:
    empty = {**service(), "kind": "Secret"}
    assert apply(empty, applied(empty)[1]) is None


def test_secret_entry_no_longer_applied_is_removed() -> None:
    cluster, live = applied(secret(username="YQ==", password="Yg=="))
    assert after(cluster, live, secret(password="Yg=="))["data"] == {"password": "Yg=="}


def test_secret_data_in_last_applied_is_removed() -> None:
    cluster, live = applied(secret(password="c2VjcmV0"))
    leaking = json.dumps(secret(password="c2VjcmV0"))
    cluster, live = replace_object(
        cluster, with_value(live, "metadata", "annotations", LAST_APPLIED, to=leaking)
    )
    assert "c2VjcmV0" not in json.dumps(after(cluster, live, secret(password="c2VjcmV0"))["metadata"])


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
def test_one_patch_reaches_any_manifest_from_any_other(
    before: dict[str, Any], wanted: dict[str, Any]
) -> None:
    cluster, live = applied(service(**before))
    write = apply(service(**wanted), live)
    if isinstance(write, Patch):
        _, live = patch(cluster, write)
    assert apply(service(**wanted), live) is None
    assert set(wanted) == set(live["spec"])
