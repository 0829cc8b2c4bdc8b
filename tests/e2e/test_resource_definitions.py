"""Our resource definitions, as a real API server takes them: what it fills in, stores and refuses."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from e2e.own_definitions import CRDS, SAMPLES, group, served
from e2e.stand.api import Api, Object, RefusedError, conditions
from e2e.stand.control_plane import ControlPlane
from searchkeeper.api.crds import CLUSTERS, POOLS, crds

GROUP = group("definitions")
MANAGERS = {"name": "managers", "roles": ["cluster_manager"], "replicas": 3}
DATA = {"name": "data", "roles": ["data"], "replicas": 2, "storage": {"size": "5Gi"}}


@pytest.fixture(scope="module")
def api(plane: ControlPlane) -> Iterator[Api]:
    with served(plane, "definitions") as own:
        yield own


def cluster(name: str = "logs", **spec: Any) -> Object:
    wanted = {"version": "2.19.4", "pools": [deepcopy(MANAGERS), deepcopy(DATA)], **spec}
    api = "search.everpath.dev/v1alpha1"
    return {"apiVersion": api, "kind": "SearchCluster", "metadata": {"name": name}, "spec": wanted}


def refusal(api: Api, wanted: Object) -> str:
    with pytest.raises(RefusedError) as refused:
        api.create(f"{GROUP}/searchclusters", wanted)
    assert refused.value.code == 422
    return refused.value.message


def test_the_schemas_are_structural_and_their_rules_affordable(api: Api) -> None:
    for definition in (CLUSTERS, POOLS):
        found = {each["type"]: each for each in conditions(api.get(f"{CRDS}/{definition.name}"))}
        assert "NonStructuralSchema" not in found
        assert found["NamesAccepted"]["status"] == "True"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample["metadata"]["name"])
def test_a_sample_is_accepted_and_nothing_of_it_dropped(api: Api, sample: Object) -> None:
    made = api.create(f"{GROUP}/{sample['kind'].lower()}s?fieldValidation=Strict", deepcopy(sample))

    def holds(wanted: Any, stored: Any) -> bool:
        if isinstance(wanted, dict):
            return all(holds(each, stored[name]) for name, each in wanted.items())
        if isinstance(wanted, list):
            return all(holds(*pair) for pair in zip(wanted, stored, strict=True))
        return bool(wanted == stored)

    assert holds(sample["spec"], made["spec"])


def test_what_is_left_out_is_filled_in(api: Api) -> None:
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
    ("wanted", "said"),
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
def test_what_cannot_work_is_refused_with_a_sentence(api: Api, wanted: Object, said: str) -> None:
    assert said in refusal(api, wanted)


def pools(size: str = "5Gi", *, ephemeral: bool = False, **changes: Any) -> Object:
    data = {**DATA, "storage": {"size": size, "ephemeral": ephemeral}, **changes}
    return {"spec": {"pools": [MANAGERS, data]}}


def test_the_storage_of_a_pool_stays_as_it_is_and_all_else_may_change(api: Api) -> None:
    path = f"{GROUP}/searchclusters/kept"
    api.create(f"{GROUP}/searchclusters", cluster("kept"))
    for changes in (pools("1Gi"), pools("50Gi"), pools(ephemeral=True)):
        with pytest.raises(RefusedError, match="storage is immutable"):
            api.merge(path, changes)
    api.merge(path, pools(replicas=5, roles=["data", "ingest"]))
    api.merge(path, {"spec": {"pools": [MANAGERS, {**DATA, "name": "cold", "storage": {"size": "1Ti"}}]}})
    with pytest.raises(RefusedError, match="at least one pool with the role cluster_manager"):
        api.merge(path, {"spec": {"pools": [DATA]}})


def test_neither_shards_nor_votes_are_taken_from_a_pool_by_its_roles(api: Api) -> None:
    """Its nodes would not have given them away."""
    path = f"{GROUP}/searchclusters/roles"
    mixed = {"name": "mixed", "roles": ["cluster_manager", "data"], "replicas": 1}
    api.create(f"{GROUP}/searchclusters", cluster("roles", pools=[MANAGERS, DATA, mixed]))

    def changed(pool: Object, *roles: str) -> Object:
        others = [each for each in (MANAGERS, DATA, mixed) if each is not pool]
        return {"spec": {"pools": [*others, {**pool, "roles": [*roles]}]}}

    for edit in (
        changed(DATA, "ingest"),
        changed(MANAGERS, "data"),
        changed(mixed, "cluster_manager"),
        changed(mixed, "data", "ingest"),
    ):
        with pytest.raises(
            RefusedError, match="the roles data, search, warm and cluster_manager cannot be removed"
        ):
            api.merge(path, edit)
    api.merge(path, changed(DATA, "data", "ingest"))
    api.merge(path, changed(DATA, "data", "cluster_manager"))
    api.merge(path, {"spec": {"pools": [MANAGERS]}})


def test_a_status_is_stored_whole_and_by_itself(api: Api) -> None:
    path = f"{GROUP}/searchclusters/told"
    api.create(f"{GROUP}/searchclusters", cluster("told"))
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
            "told by a later release": True,
        },
    }
    stored = api.merge(
        f"{path}/status?fieldValidation=Strict", {"status": status, "spec": {"version": "9.9.9"}}
    )
    assert stored["status"] == status
    assert stored["spec"]["version"] == "2.19.4"
    assert stored["metadata"]["generation"] == 1
    struck = api.merge(f"{path}/status", {"status": {"ledger": {"upgrade": None}}})
    assert struck["status"]["ledger"] == {"engine/allocation": '"all"'}


def test_a_pool_cannot_be_scaled_behind_the_back_of_its_cluster(api: Api) -> None:
    pool = next(deepcopy(each) for each in SAMPLES if each["kind"] == "SearchPool")
    pool["metadata"]["name"] = "scaled"
    api.create(f"{GROUP}/searchpools", pool)
    with pytest.raises(RefusedError) as refused:
        api.get(f"{GROUP}/searchpools/scaled/scale")
    assert refused.value.code == 404


def test_people_see_version_target_phase_readiness_and_age(api: Api) -> None:
    shown = {
        plural: [each["name"] for each in definition["spec"]["versions"][0]["additionalPrinterColumns"]]
        for plural, definition in crds().items()
    }
    assert shown["searchclusters"] == ["Version", "Target", "Phase", "Ready", "Age"]
    assert shown["searchpools"] == ["Cluster", "Version", "Target", "Replicas", "Ready", "Age"]
    served = api.get("/apis/search.everpath.dev/v1alpha1")["resources"]
    short = {each["name"]: each.get("shortNames") for each in served if "/" not in each["name"]}
    assert short == {"searchclusters": ["search"], "searchpools": ["spool"]}
