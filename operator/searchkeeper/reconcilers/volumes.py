"""Actions that enlarge the volumes of a pool, and what is left to do for it."""

from __future__ import annotations

__all__ = ["paused", "pools_resized", "resize_volumes", "volumes_resized"]

from typing import Any, Final

from searchkeeper.api.messages import join
from searchkeeper.api.reasons import Reason
from searchkeeper.desired import names
from searchkeeper.desired.quantities import is_less
from searchkeeper.kubernetes.operations import Key, Manifest, Patch
from searchkeeper.planner import NO_DEADLINE, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.pools import PoolContext, pool_error
from searchkeeper.snapshot import PoolView

# Some clouds take many minutes for a volume.
_RESIZE_DEADLINE: Final = 3600
# Other changes of any pool come first.
_REPLACEMENT_DEADLINE: Final = 24 * 3600


@action()
def volumes_resized(ctx: PoolContext) -> Result:
    """True when the volume of every node of the pool has the size that the spec names."""
    return resize_volumes(ctx.cluster, ctx.pool) or done()


@action()
def pools_resized(ctx: ReconcileContext) -> Result:
    """True when volumes and claim templates of every pool have the size that the spec names.

    Repeats what the SearchPools report. Nothing requires it: an expansion that Kubernetes refuses stops
    neither an upgrade nor a scale-in.
    """
    error = pool_error(ctx, about_volumes=True)
    if error is not None:
        return error
    for pool in ctx.pools:
        resizing = resize_volumes(ctx, pool)
        if resizing is not None:
            deadline = resizing.deadline or _RESIZE_DEADLINE
            return wait(resizing.reason, resizing.message, deadline=deadline)
        if ctx.has_small_claim_templates(pool):
            message = f"the StatefulSet of pool {pool.spec.name} is replaced by one with larger volumes"
            return paused(ctx) or wait(Reason.RESIZING_VOLUMES, message, deadline=_REPLACEMENT_DEADLINE)
    return done()


def resize_volumes(ctx: ReconcileContext, pool: PoolView) -> Result | None:
    """Patch the first volume claim of the pool that is too small, then wait for Kubernetes; None if all fit.

    Claims outlive pods: one that a scale-in left may be smaller than the others when its node returns.
    """
    size = ctx.wanted_storage(pool).size
    claims = _claims(ctx, pool) if ctx.may_resize(pool) else []
    small = [claim for claim in claims if is_less(_request(claim), size)]
    resizing = [claim for claim in claims if is_less(_capacity(claim), size)]
    if not small and not resizing:
        return None
    if (pause := paused(ctx)) is not None:
        return pause
    for claim in small:
        # The API server refuses to change a claim that is not bound.
        if (claim.get("status") or {}).get("phase") == "Bound":
            changes = {"spec": {"resources": {"requests": {"storage": size}}}}
            patch = Patch(Key.of(claim), changes, claim["metadata"]["resourceVersion"])
            message = f"{Key.of(claim)} is enlarged from {_request(claim)} to {size}"
            return in_progress(Reason.RESIZING_VOLUMES, message, patch)
    waiting = [claim["metadata"]["name"] for claim in (small or resizing)]
    problem = "cannot be enlarged before they are bound" if small else f"are enlarged to {size}"
    message = f"volumes of pool {pool.spec.name} {problem}: {join(waiting)}"
    mounted = [
        str(claim["metadata"]["name"]).removeprefix("data-")
        for claim in resizing
        if any(each["type"] == "FileSystemResizePending" for each in claim["status"].get("conditions") or ())
    ]
    if mounted:
        message += (
            f"; the file system of {join(mounted)} is not resized yet: if the driver cannot do that "
            "while the volume is in use, delete the pod, one at a time"
        )
    return wait(Reason.RESIZING_VOLUMES, message, deadline=_RESIZE_DEADLINE)


def paused(ctx: ReconcileContext) -> Result | None:
    """Wait while `spec.upgrade.paused` is set: volumes cannot shrink again."""
    if not ctx.spec.upgrade.paused:
        return None
    return wait(Reason.UPGRADE_PAUSED, "spec.upgrade.paused is set", deadline=NO_DEADLINE)


def _claims(ctx: ReconcileContext, pool: PoolView) -> list[Manifest]:
    """The volume claims of the nodes that the spec wants. A terminating claim is replaced by a new one."""
    name = names.pool_name(ctx.desired.name, pool.spec.name)
    keys = (
        ctx.key("v1", "PersistentVolumeClaim", f"data-{name}-{ordinal}") for ordinal in range(pool.replicas)
    )
    found = (ctx.snapshot.objects[key] for key in keys if key in ctx.snapshot.objects)
    return [claim for claim in found if "deletionTimestamp" not in claim["metadata"]]


def _request(claim: Manifest) -> Any:
    return ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")


def _capacity(claim: Manifest) -> Any:
    """The size of the volume; None if the claim is not bound."""
    return ((claim.get("status") or {}).get("capacity") or {}).get("storage")
