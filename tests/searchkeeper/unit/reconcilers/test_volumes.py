"""One step of an expansion: which volume claim is patched, and what the pool waits for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.spec import Storage
from searchkeeper.kubernetes.operations import Manifest, Patch
from searchkeeper.planner import Result
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.volumes import resize_volumes
from tests.support.searchkeeper.action_contexts import context, with_objects
from tests.support.searchkeeper.snapshots import cluster_snapshot, pool


def claim(
    ordinal: int, request: str, capacity: str | None = None, *conditions: str, **metadata: Any
) -> Manifest:
    """Return a claim of the pool data; without a capacity it is not bound."""
    name = f"data-logs-data-{ordinal}"
    named = {"name": name, "namespace": "search", "uid": f"uid-{name}", "resourceVersion": "7"}
    status: dict[str, Any] = {"phase": "Pending" if capacity is None else "Bound"}
    if capacity is not None:
        status["capacity"] = {"storage": capacity}
    if conditions:
        status["conditions"] = [{"type": each, "status": "True"} for each in conditions]
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {**named, **metadata},
        "spec": {"resources": {"requests": {"storage": request}}},
        "status": status,
    }


def context_with_claims(size: str, *claims: Manifest, version: int = 5, **deployed: Any) -> ReconcileContext:
    """Return the context of a pool of two nodes with claim templates of 10Gi that shall have this size."""
    data = pool("data", 2)
    snapshot = with_objects(cluster_snapshot(data), *claims)
    [spec] = snapshot.cluster.spec.pools
    wanted = replace(spec, storage=Storage(size))
    cluster = replace(snapshot.cluster, spec=replace(snapshot.cluster.spec, pools=(wanted,)))
    pools = (replace(data, spec=replace(data.spec, storage=Storage("10Gi", **deployed))),)
    return replace(context(replace(snapshot, cluster=cluster, pools=pools)), version=version)


def resize(ctx: ReconcileContext) -> Result | None:
    return resize_volumes(ctx, ctx.snapshot.pools[0])


def test_first_small_claim_is_patched_with_its_resource_version() -> None:
    ctx = context_with_claims("20Gi", claim(0, "20Gi", "10Gi"), claim(1, "10Gi", "10Gi"))
    result = resize(ctx)
    assert result is not None
    [patch] = result.operations
    assert isinstance(patch, Patch)
    assert (patch.key.name, patch.resource_version) == ("data-logs-data-1", "7")
    assert patch.changes == {"spec": {"resources": {"requests": {"storage": "20Gi"}}}}
    assert result.message == "PersistentVolumeClaim data-logs-data-1 is enlarged from 10Gi to 20Gi"


@pytest.mark.parametrize("capacity", ["20Gi", "20480Mi", "21Gi"])
def test_nothing_is_left_to_do_when_every_volume_has_the_size(capacity: str) -> None:
    assert resize(context_with_claims("20Gi", claim(0, "20Gi", capacity), claim(1, "25Gi", "25Gi"))) is None


@pytest.mark.parametrize("size", ["10Gi", "10240Mi", "5Gi"])
def test_claim_is_never_made_smaller(size: str) -> None:
    assert resize(context_with_claims(size, claim(0, "10Gi", "10Gi"), claim(1, "20Gi", "20Gi"))) is None


def test_claims_of_other_nodes_stay() -> None:
    assert resize(context_with_claims("20Gi", claim(2, "10Gi", "10Gi"))) is None


def test_terminating_claim_stays() -> None:
    assert resize(context_with_claims("20Gi", claim(0, "10Gi", "10Gi", deletionTimestamp="now"))) is None


def test_new_claim_of_the_right_size_is_not_waited_for() -> None:
    """PodsReady waits for its pod."""
    assert resize(context_with_claims("20Gi", claim(0, "20Gi"))) is None


def test_claim_that_is_not_bound_is_waited_for() -> None:
    result = resize(context_with_claims("20Gi", claim(0, "10Gi"), claim(1, "20Gi", "20Gi")))
    assert result is not None
    assert not result.operations
    assert result.message == "volumes of pool data cannot be enlarged before they are bound: data-logs-data-0"


def test_growing_volume_is_waited_for() -> None:
    result = resize(
        context_with_claims("20Gi", claim(0, "20Gi", "10Gi", "Resizing"), claim(1, "20Gi", "20Gi"))
    )
    assert result is not None
    assert (result.reason, result.deadline) == ("ResizingVolumes", 3600)
    assert result.message == "volumes of pool data are enlarged to 20Gi: data-logs-data-0"


def test_message_names_the_pod_whose_file_system_is_not_resized() -> None:
    result = resize(context_with_claims("20Gi", claim(0, "20Gi", "10Gi", "FileSystemResizePending")))
    assert result is not None
    assert result.message.endswith(
        "; the file system of logs-data-0 is not resized yet: if the driver cannot do that while the volume "
        "is in use, delete the pod, one at a time"
    )


@pytest.mark.parametrize(
    "ctx",
    [
        context_with_claims("20Gi", claim(0, "10Gi", "10Gi"), version=4),
        context_with_claims("20Gi", claim(0, "10Gi", "10Gi"), storage_class="fast"),
        context_with_claims("20Gi", claim(0, "10Gi", "10Gi"), ephemeral=True),
    ],
    ids=["before version 5", "another class", "ephemeral"],
)
def test_volumes_that_cannot_grow_stay(ctx: ReconcileContext) -> None:
    assert resize(ctx) is None
