"""The CRDs of searchkeeper on a real API server: defaults, stored fields and validation."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from searchkeeper.api.crds import CLUSTERS, POOLS, crds
from tests.e2e.installed_crds import CRDS, SAMPLES, group_path, install_crds
from tests.e2e.servers.api import Api, ApiError, Object, conditions
from tests.e2e.servers.control_plane import ControlPlane

pytestmark = pytest.mark.e2e

NAMESPACE = "crds"
GROUP = group_path(NAMESPACE)
MANAGERS = {"name": "managers", "roles": ["cluster_manager"], "replicas": 3}
DATA = {"name": "data", "roles": ["data"], "replicas": 2, "storage": {"size": "5Gi"}}


@pytest.fixture(scope="module")
def api(plane: ControlPlane) -> Iterator[Api]:
    with install_crds(plane, NAMESPACE) as connection:
        yield connection


def cluster(name: str = "logs", **spec: Any) -> Object:
    values = {"version": "2.19.4", "pools": [deepcopy(MANAGERS), deepcopy(DATA)], **spec}
    api = "search.everpath.dev/v1alpha1"
    return {"apiVersion": api, "kind": "SearchCluster", "metadata": {"name": name}, "spec": values}


def validation_error(api: Api, manifest: Object) -> str:
    """Try to create a SearchCluster, and return the message of the error."""
    with pytest.raises(ApiError) as error:
        api.create(f"{GROUP}/searchclusters", manifest)
    assert error.value.code == 422
    return error.value.message


def test_api_server_accepts_the_schemas(api: Api) -> None:
    for crd in (CLUSTERS, POOLS):
        found = {each["type"]: each for each in conditions(api.get(f"{CRDS}/{crd.name}"))}
        assert "NonStructuralSchema" not in found
        assert found["NamesAccepted"]["status"] == "True"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["metadata"]["name"])
def test_sample_is_accepted_and_stored_completely(api: Api, sample: Object) -> None:
    created = api.create(f"{GROUP}/{sample['kind'].lower()}s?fieldValidation=Strict", deepcopy(sample))

    def contains(stored: Any, written: Any) -> bool:
        if isinstance(written, dict):
            return all(contains(stored[name], each) for name, each in written.items())
        if isinstance(written, list):
            return all(contains(*pair) for pair in zip(stored, written, strict=True))
        return bool(stored == written)

    assert contains(created["spec"], sample["spec"])


def test_missing_fields_get_defaults(api: Api) -> None:
    spec = api.create(f"{GROUP}/searchclusters", cluster("plain"))["spec"]
    assert spec["pools"][0]["storage"] == {"size": "10Gi", "ephemeral": False}
    assert spec["upgrade"] == {
        "maxBatch": 1,
        "healthDeadlineSeconds": 900,
        "paused": False,
        "rollback": "Manual",
        "acceptSingleCopyLoss": False,
    }
    assert spec["dashboards"] == {"enabled": False, "replicas": 1}


def with_pool(**changes: Any) -> Object:
    return cluster("bad", pools=[MANAGERS, {**DATA, **changes}])


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (cluster("bad", pools=[DATA]), "at least one pool with the role cluster_manager"),
        (
            cluster("bad", pools=[{**MANAGERS, "replicas": 0}, DATA]),
            "at least one pool with the role cluster_manager",
        ),
        (cluster("bad", pools=[]), "should have at least 1 items"),
        (cluster("bad", pools=[MANAGERS, DATA, DATA]), "Duplicate value"),
        (cluster("bad", version="3"), "spec.version in body should match"),
        (cluster("bad", version="2.19.4-rc.1"), "spec.version in body should match"),
        (cluster("1st"), "metadata.name must start with a letter"),
        (cluster("a.b"), "metadata.name must start with a letter"),
        (cluster("x" * 44), "at most 51 characters together"),
        (with_pool(name="Data"), "pools[1].name in body should match"),
        (with_pool(name="x" * 25), "may not be more than 24"),
        (with_pool(roles=[]), "should have at least 1 items"),
        (with_pool(roles=["data", "data"]), "Duplicate value"),
        (with_pool(roles=["master"]), "Unsupported value"),
        (with_pool(roles=["warm"]), "the role warm exists since OpenSearch 3.0"),
        (
            cluster("bad", version="3.4.0", pools=[MANAGERS, {**DATA, "roles": ["search", "data"]}]),
            "the role search cannot be combined",
        ),
        (with_pool(podTemplate={"spec": {"nodeSelector": {"a": 1}}}), "nodeSelector.a: Invalid value"),
        (
            with_pool(podTemplate={"spec": {"containers": [{"image": "x"}]}}),
            "containers[0].name: Required value",
        ),
        (cluster("bad", config="x"), "spec.config in body must be of type object"),
        (with_pool(replicas=-1), "greater than or equal to 0"),
        (with_pool(replicas=201), "less than or equal to 200"),
        (with_pool(storage={"size": "much"}), "storage.size in body should match"),
        (with_pool(storage={"size": "0Gi"}), "storage.size in body should match"),
        (cluster("bad", upgrade={"maxBatch": 0}), "greater than or equal to 1"),
        (cluster("bad", upgrade={"snapshotRepository": "a/b"}), "snapshotRepository in body should match"),
        (cluster("bad", upgrade={"healthDeadlineSeconds": 5}), "greater than or equal to 30"),
        (cluster("bad", upgrade={"rollback": "Sometimes"}), "Unsupported value"),
        (cluster("bad", security={"tlsSecret": ""}), "should be at least 1 chars"),
        (
            cluster("bad", security={"tlsSecret": "../../vault/secrets/keys"}),
            "tlsSecret in body should match",
        ),
        (cluster("bad", security={"credentialsSecret": "a/b"}), "credentialsSecret in body should match"),
        (
            cluster("bad", security={"credentialsSecret": "bad-config"}),
            "because the operator creates Secrets",
        ),
        (
            cluster("bad", security={"credentialsSecret": "bad-credentials"}),
            "because the operator creates Secrets",
        ),
        (cluster("bad", dashboards={"enabled": True, "replicas": 201}), "less than or equal to 200"),
        (cluster("bad", version=f"{'1' * 40}.0.0"), "may not be more than 32"),
    ],
)
def test_invalid_spec_is_rejected_with_a_message(api: Api, manifest: Object, message: str) -> None:
    assert message in validation_error(api, manifest)


def pools(size: str = "5Gi", *, ephemeral: bool = False, **changes: Any) -> Object:
    data = {**DATA, "storage": {"size": size, "ephemeral": ephemeral}, **changes}
    return {"spec": {"pools": [MANAGERS, data]}}


def test_storage_of_a_pool_only_grows_and_other_fields_change(api: Api) -> None:
    path = f"{GROUP}/searchclusters/storage"
    api.create(f"{GROUP}/searchclusters", cluster("storage"))
    for size in ("1Gi", "5G", "5119Mi", "4.9Gi"):
        with pytest.raises(ApiError, match="size can only grow"):
            api.patch(path, pools(size))
    classed = pools(storage={"size": "5Gi", "storageClass": "fast"})
    for changes in (pools(ephemeral=True), classed):
        with pytest.raises(ApiError, match="storageClass and ephemeral are immutable"):
            api.patch(path, changes)
    for size in ("5120Mi", "50Gi", "60G", "1Ti"):
        api.patch(path, pools(size))
    api.patch(path, pools("1Ti", replicas=5, roles=["data", "ingest"]))
    api.patch(path, {"spec": {"pools": [MANAGERS, {**DATA, "name": "cold", "storage": {"size": "1Ti"}}]}})
    with pytest.raises(ApiError, match="at least one pool with the role cluster_manager"):
        api.patch(path, {"spec": {"pools": [DATA]}})


def test_roles_data_and_cluster_manager_cannot_be_removed_from_a_pool(api: Api) -> None:
    """Otherwise nodes could restart without the role before their shards and votes are moved."""
    path = f"{GROUP}/searchclusters/roles"
    mixed = {"name": "mixed", "roles": ["cluster_manager", "data"], "replicas": 1}
    api.create(f"{GROUP}/searchclusters", cluster("roles", pools=[MANAGERS, DATA, mixed]))

    def with_roles(pool: Object, *roles: str) -> Object:
        others = [each for each in (MANAGERS, DATA, mixed) if each is not pool]
        return {"spec": {"pools": [*others, {**pool, "roles": [*roles]}]}}

    for edit in (
        with_roles(DATA, "ingest"),
        with_roles(MANAGERS, "data"),
        with_roles(mixed, "cluster_manager"),
        with_roles(mixed, "data", "ingest"),
    ):
        with pytest.raises(
            ApiError, match="the roles data, search, warm and cluster_manager cannot be removed"
        ):
            api.patch(path, edit)
    api.patch(path, with_roles(DATA, "data", "ingest"))
    api.patch(path, with_roles(DATA, "data", "cluster_manager"))
    api.patch(path, {"spec": {"pools": [MANAGERS]}})


def test_status_is_stored_completely_and_separately_from_the_spec(api: Api) -> None:
    path = f"{GROUP}/searchclusters/stored"
    api.create(f"{GROUP}/searchclusters", cluster("stored"))
    condition = {
        "type": "PodsCurrent",
        "status": "False",
        "reason": "Waits",
        "message": "",
        "lastTransitionTime": "2026-11-16T12:00:00Z",
        "observedGeneration": 1,
    }
    status = {
        "conditions": [condition],
        "ledger": {"upgrade": '["2.19.4","3.4.0"]', "engine/allocation": '"all"'},
        "currentVersion": 4,
        "engineVersion": "2.19.4",
        "phase": "Upgrading",
        "ready": "4/5",
        "observedGeneration": 1,
        "upgrade": {
            "from": "2.19.4",
            "target": "3.4.0",
            "startedAt": "2026-11-16T12:00:00Z",
            "pool": "data",
            "steps": [{"name": "data", "state": "Running", "at": "2026-11-16T12:00:00Z"}],
            "history": [{"from": "2.19.0", "target": "2.19.4", "result": "Finished"}],
            "addedByALaterRelease": True,
        },
    }
    stored = api.patch(
        f"{path}/status?fieldValidation=Strict", {"status": status, "spec": {"version": "9.9.9"}}
    )
    assert stored["status"] == status
    assert stored["spec"]["version"] == "2.19.4"
    assert stored["metadata"]["generation"] == 1
    removed = api.patch(f"{path}/status", {"status": {"ledger": {"upgrade": None}}})
    assert removed["status"]["ledger"] == {"engine/allocation": '"all"'}


def test_pool_has_no_scale_subresource(api: Api) -> None:
    pool = next(deepcopy(each) for each in SAMPLES if each["kind"] == "SearchPool")
    pool["metadata"]["name"] = "scaled"
    api.create(f"{GROUP}/searchpools", pool)
    with pytest.raises(ApiError) as error:
        api.get(f"{GROUP}/searchpools/scaled/scale")
    assert error.value.code == 404


def test_printer_columns_show_version_target_phase_readiness_and_age(api: Api) -> None:
    columns = {
        plural: [each["name"] for each in crd["spec"]["versions"][0]["additionalPrinterColumns"]]
        for plural, crd in crds().items()
    }
    assert columns["searchclusters"] == ["Version", "Target", "Phase", "Ready", "Age"]
    assert columns["searchpools"] == ["Cluster", "Version", "Target", "Replicas", "Ready", "Age"]
    resources = api.get("/apis/search.everpath.dev/v1alpha1")["resources"]
    short = {each["name"]: each.get("shortNames") for each in resources if "/" not in each["name"]}
    assert short == {"searchclusters": ["search"], "searchpools": ["spool"]}
