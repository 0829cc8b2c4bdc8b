"""Actions that bring single objects about, and take away those of earlier versions."""

from __future__ import annotations

__all__ = [
    "apply_all",
    "client_service_applied",
    "configuration_applied",
    "dashboards_current",
    "delete_all",
    "discovery_service_applied",
    "finalizer_set",
    "name_conflict",
]

from collections.abc import Iterable

from searchkeeper.desired import names
from searchkeeper.desired.apply import apply
from searchkeeper.desired.dashboards import dashboards_deployment, dashboards_service
from searchkeeper.desired.manifests import client_service, discovery_service
from searchkeeper.desired.settings import settings_manifests
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.planner import Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.upgrade.gates import NO_DEADLINE

_OBJECT_PATIENCE = 300
# For what only a person can mend; what an earlier cluster of the same name left is gone by then.
_PERSONS_PATIENCE = 60


def apply_all(ctx: ReconcileContext, wanted: Iterable[Manifest], reason: str) -> Result:
    """True when all of these are as they should be; otherwise the first that is not is written."""
    taken = None
    for manifest in wanted:
        obstacle = name_conflict(ctx, Key.of(manifest))
        write = apply(manifest, ctx.live(manifest)) if obstacle is None else None
        if write is not None:
            return in_progress(reason, f"{Key.of(manifest)} is brought to configuration {ctx.version}", write)
        taken = taken or obstacle
    return taken or done()


def name_conflict(ctx: ReconcileContext, key: Key) -> Result | None:
    """What is somebody else's is neither changed nor removed, whatever it is called."""
    found = ctx.snapshot.foreign_objects.get(key)
    if found is None:
        return None
    owners = found["metadata"].get("ownerReferences") or ()
    whose = ", ".join(f"{each['kind']} {each['name']}" for each in owners) or "somebody else"
    message = f"{key} belongs to {whose}: remove it, or call this cluster or its pool something else"
    return wait("NameTaken", message, deadline=_PERSONS_PATIENCE)


def delete_all(ctx: ReconcileContext, keys: Iterable[Key]) -> Result:
    """True when none of these is there any more."""
    for key in keys:
        found = ctx.snapshot.objects.get(key)
        if found is not None and "deletionTimestamp" in found["metadata"]:
            return wait("Leaving", f"{key} is on its way out", deadline=_OBJECT_PATIENCE)
        if found is not None:
            metadata = found["metadata"]
            delete = Delete(key, metadata["uid"], metadata["resourceVersion"])
            return in_progress("Removing", f"{key} is not wanted any more", delete)
    return done()


@action()
def finalizer_set(ctx: ReconcileContext) -> Result:
    """Nobody deletes the cluster before what was set in its engine is undone."""
    cluster = ctx.snapshot.cluster
    if names.FINALIZER in cluster.finalizers:
        return done()
    changes = {"metadata": {"finalizers": [*cluster.finalizers, names.FINALIZER]}}
    patch = Patch(cluster.key, changes, cluster.resource_version)
    return in_progress("AddingFinalizer", "the cluster is held until its engine is tidied", patch)


@action()
def configuration_applied(ctx: ReconcileContext) -> Result:
    """What nodes read is there. While credentials are missing they keep those that they have.

    A cluster that never had any is not made without: every node would restart when they come.
    """
    missing = ctx.missing_secret
    if missing is None or ctx.has_credentials:
        applying = apply_all(ctx, settings_manifests(ctx.deployed), "ApplyingConfiguration")
        if missing is None or not applying.is_true:
            return applying
    message = f"{missing}, which spec.security names, {_why_missing(ctx, missing)}"
    return wait("CredentialsMissing", message, deadline=_PERSONS_PATIENCE)


def _why_missing(ctx: ReconcileContext, secret: Key) -> str:
    if secret in ctx.own_secrets:
        return "is the operator's own: call yours something else"
    if ctx.missing_entries:
        return f"has no text in {' and '.join(ctx.missing_entries)}: add it"
    return "does not exist: create it"


@action()
def discovery_service_applied(ctx: ReconcileContext) -> Result:
    return apply_all(ctx, [discovery_service(ctx.deployed)], "ApplyingDiscovery")


@action()
def client_service_applied(ctx: ReconcileContext) -> Result:
    return apply_all(ctx, [client_service(ctx.deployed)], "ApplyingService")


@action()
def dashboards_current(ctx: ReconcileContext) -> Result:
    """They follow the engine: their version is the one that every node has arrived at.

    Nobody is late for nodes that were never to come.
    """
    if not ctx.spec.dashboards.enabled:
        name = names.dashboards(ctx.deployed.name)
        return delete_all(ctx, [ctx.key("v1", "Service", name), ctx.key("apps/v1", "Deployment", name)])
    version, deadline = ctx.snapshot.cluster.engine_version, ctx.spec.upgrade.health_deadline
    if version is None and ctx.refusal is not None and not ctx.snapshot.pods:
        return wait("Refused", "a version that is refused has no nodes", deadline=NO_DEADLINE)
    if version is None:
        return wait("EngineFirst", "not every node of the engine has arrived", deadline=deadline)
    wanted = dashboards_deployment(ctx.deployed, version)
    changing = apply_all(ctx, [dashboards_service(ctx.deployed), wanted], "ApplyingDashboards")
    if not changing.is_true or _is_available(ctx.live(wanted) or {}):
        return changing
    return wait("NotReady", f"{Key.of(wanted)} is not ready", deadline=deadline)


def _is_available(deployment: Manifest) -> bool:
    """Its controller has seen the newest template, and every pod there is is made from it and ready."""
    status, wanted = deployment.get("status") or {}, deployment["spec"]["replicas"]
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "readyReplicas")]
    has_seen = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return has_seen and all(count == wanted for count in counts)
