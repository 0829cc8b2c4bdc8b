"""Actions that apply single objects, and helpers that apply or delete several."""

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
    "secrets_found",
]

from collections.abc import Iterable
from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.desired import names
from searchkeeper.desired.apply import apply
from searchkeeper.desired.dashboards import dashboards_deployment, dashboards_service
from searchkeeper.desired.manifests import client_service, discovery_service
from searchkeeper.desired.settings import settings_manifests
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.planner import NO_DEADLINE, USER_DEADLINE, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.lost_status import record_version
from searchkeeper.upgrade.secrets import missing_secret

_DELETION_DEADLINE: Final = 300


def apply_all(ctx: ReconcileContext, manifests: Iterable[Manifest], reason: Reason) -> Result:
    """Apply the first object that differs. True when none does and none has a name conflict."""
    conflict = None
    for manifest in manifests:
        key = Key.of(manifest)
        foreign = name_conflict(ctx, key)
        operation = apply(manifest, ctx.live(manifest)) if foreign is None else None
        if operation is not None:
            return in_progress(reason, f"{key} is brought to configuration {ctx.version}", operation)
        conflict = conflict or foreign
    return conflict or done()


def name_conflict(ctx: ReconcileContext, key: Key) -> Result | None:
    """Wait where an object with this key belongs to another owner: it is neither changed nor deleted."""
    foreign = ctx.snapshot.foreign_objects.get(key)
    if foreign is None:
        return None
    references = foreign["metadata"].get("ownerReferences") or ()
    owner = ", ".join(f"{owner['kind']} {owner['name']}" for owner in references) or "another owner"
    message = f"{key} belongs to {owner}: delete it, or rename this cluster or its pool"
    return wait(Reason.NAME_CONFLICT, message, deadline=USER_DEADLINE)


def delete_all(ctx: ReconcileContext, keys: Iterable[Key]) -> Result:
    """Delete the first of these objects that exists. True when none does."""
    for key in keys:
        live = ctx.snapshot.objects.get(key)
        if live is None:
            continue
        metadata = live["metadata"]
        if "deletionTimestamp" in metadata:
            return wait(Reason.WAITING_FOR_DELETION, f"{key} is being deleted", deadline=_DELETION_DEADLINE)
        delete = Delete(key, metadata["uid"], metadata["resourceVersion"])
        return in_progress(Reason.DELETING, f"{key} is not part of the configuration", delete)
    return done()


@action()
def finalizer_set(ctx: ReconcileContext) -> Result:
    """True when the cluster cannot be deleted before the engine's settings are restored.

    Also records the engine version outside the status: a cluster that loses its status must not count as new.
    """
    cluster = ctx.snapshot.cluster
    if names.FINALIZER in cluster.finalizers:
        annotation = record_version(cluster)
        message = f"{cluster.engine_version} is recorded as the version of every node"
        return done() if annotation is None else in_progress(Reason.RECORDING_VERSION, message, annotation)
    changes = {"metadata": {"finalizers": [*cluster.finalizers, names.FINALIZER]}}
    patch = Patch(cluster.key, changes, cluster.resource_version)
    return in_progress(Reason.ADDING_FINALIZER, "engine settings are restored before a deletion", patch)


@action()
def configuration_applied(ctx: ReconcileContext) -> Result:
    """True when the ConfigMap and the Secret of the nodes are applied.

    Nodes keep their credentials while the Secret that the spec names is missing. A cluster that never had
    any waits for it: every node would restart when it appears.
    """
    missing = ctx.credentials.missing_secret
    if missing is None or ctx.credentials.has_own_copy:
        applied = apply_all(ctx, settings_manifests(ctx.desired), Reason.APPLYING_CONFIGURATION)
        if missing is None or not applied.is_true:
            return applied
    if missing in ctx.credentials.own_secrets:
        problem = "is managed by the operator: use another name for yours"
    elif ctx.credentials.missing_entries:
        problem = f"has no text in {' and '.join(ctx.credentials.missing_entries)}: add it"
    else:
        problem = "does not exist: create it"
    message = f"{missing}, named by spec.security, {problem}"
    return wait(Reason.CREDENTIALS_MISSING, message, deadline=USER_DEADLINE)


@action()
def secrets_found(ctx: ReconcileContext) -> Result:
    """True when the Secrets exist that new pods mount. Pods that run keep what they have mounted."""
    missing = missing_secret(ctx.snapshot)
    return done() if missing is None else wait(Reason.SECRET_MISSING, missing, deadline=USER_DEADLINE)


@action()
def discovery_service_applied(ctx: ReconcileContext) -> Result:
    """True when the headless Service is applied by which nodes discover each other."""
    return apply_all(ctx, [discovery_service(ctx.desired)], Reason.APPLYING_DISCOVERY_SERVICE)


@action()
def client_service_applied(ctx: ReconcileContext) -> Result:
    """True when the Service for clients is applied."""
    return apply_all(ctx, [client_service(ctx.desired)], Reason.APPLYING_CLIENT_SERVICE)


@action()
def dashboards_current(ctx: ReconcileContext) -> Result:
    """True when Dashboards run the engine version that every node runs, or are gone where disabled.

    Without nodes, because the version is refused, the wait for them has no deadline.
    """
    if not ctx.spec.dashboards.enabled:
        name = names.dashboards(ctx.desired.name)
        return delete_all(ctx, [ctx.key("v1", "Service", name), ctx.key("apps/v1", "Deployment", name)])
    version, deadline = ctx.snapshot.cluster.engine_version, ctx.spec.upgrade.health_deadline
    if version is None and ctx.refusal is not None and not ctx.snapshot.pods:
        return wait(Reason.VERSION_REFUSED, "a refused version has no nodes", deadline=NO_DEADLINE)
    if version is None:
        return wait(Reason.WAITING_FOR_ENGINE, "not every node has joined the engine", deadline=deadline)
    deployment = dashboards_deployment(ctx.desired, version)
    applied = apply_all(ctx, [dashboards_service(ctx.desired), deployment], Reason.APPLYING_DASHBOARDS)
    if not applied.is_true or _is_available(ctx.live(deployment) or {}):
        return applied
    return wait(Reason.WAITING_FOR_DASHBOARDS, f"{Key.of(deployment)} is not available", deadline=deadline)


def _is_available(deployment: Manifest) -> bool:
    """Whether the controller has observed the newest template and every replica runs it and is ready."""
    status, replicas = deployment.get("status") or {}, deployment["spec"]["replicas"]
    if status.get("observedGeneration", 0) < deployment["metadata"]["generation"]:
        return False
    return all(status.get(count, 0) == replicas for count in ("replicas", "updatedReplicas", "readyReplicas"))
