"""Actions that bring single objects about, and take away those of earlier versions."""

from __future__ import annotations

__all__ = [
    "applied",
    "client_service_exists",
    "configuration_is_applied",
    "dashboards_are_current",
    "discovery_exists",
    "finalizer_is_set",
    "gone",
    "name_taken",
]

from collections.abc import Iterable

from searchkeeper.configuration import names
from searchkeeper.configuration.applying import apply
from searchkeeper.configuration.dashboards import dashboards, dashboards_service
from searchkeeper.configuration.manifests import client_service, discovery
from searchkeeper.configuration.scene import Scene
from searchkeeper.configuration.settings import configuration
from searchkeeper.kernel import Answer, action, done, waiting, working
from searchkeeper.upgrade.gates import FOR_EVER
from searchkeeper.writes import Delete, Key, Manifest, Patch

_OBJECT_PATIENCE = 300
# For what only a person can mend; what an earlier cluster of the same name left is gone by then.
_PERSONS_PATIENCE = 60


def applied(scene: Scene, wanted: Iterable[Manifest], reason: str) -> Answer:
    """True when all of these are as they should be; otherwise the first that is not is written."""
    taken = None
    for manifest in wanted:
        obstacle = name_taken(scene, Key.of(manifest))
        write = apply(manifest, scene.live(manifest)) if obstacle is None else None
        if write is not None:
            return working(reason, f"{Key.of(manifest)} is brought to configuration {scene.version}", write)
        taken = taken or obstacle
    return taken or done()


def name_taken(scene: Scene, key: Key) -> Answer | None:
    """What is somebody else's is neither changed nor removed, whatever it is called."""
    found = scene.seen.strangers.get(key)
    if found is None:
        return None
    owners = found["metadata"].get("ownerReferences") or ()
    whose = ", ".join(f"{each['kind']} {each['name']}" for each in owners) or "somebody else"
    message = f"{key} belongs to {whose}: remove it, or call this cluster or its pool something else"
    return waiting("NameTaken", message, patience=_PERSONS_PATIENCE)


def gone(scene: Scene, keys: Iterable[Key]) -> Answer:
    """True when none of these is there any more."""
    for key in keys:
        found = scene.seen.objects.get(key)
        if found is not None and "deletionTimestamp" in found["metadata"]:
            return waiting("Leaving", f"{key} is on its way out", patience=_OBJECT_PATIENCE)
        if found is not None:
            metadata = found["metadata"]
            delete = Delete(key, metadata["uid"], metadata["resourceVersion"])
            return working("Removing", f"{key} is not wanted any more", delete)
    return done()


@action()
def finalizer_is_set(scene: Scene) -> Answer:
    """Nobody deletes the cluster before what was set in its engine is undone."""
    cluster = scene.seen.cluster
    if names.FINALIZER in cluster.finalizers:
        return done()
    changes = {"metadata": {"finalizers": [*cluster.finalizers, names.FINALIZER]}}
    patch = Patch(cluster.key, changes, cluster.resource_version)
    return working("AddingFinalizer", "the cluster is held until its engine is tidied", patch)


@action()
def configuration_is_applied(scene: Scene) -> Answer:
    """What nodes read is there. While credentials are missing they keep those that they have.

    A cluster that never had any is not made without: every node would restart when they come.
    """
    missing = scene.missing_secret
    if missing is None or scene.has_credentials:
        applying = applied(scene, configuration(scene.deployed), "ApplyingConfiguration")
        if missing is None or not applying.is_true:
            return applying
    message = f"{missing}, which spec.security names, {_why_missing(scene, missing)}"
    return waiting("CredentialsMissing", message, patience=_PERSONS_PATIENCE)


def _why_missing(scene: Scene, secret: Key) -> str:
    if secret in scene.own_secrets:
        return "is the operator's own: call yours something else"
    if scene.missing_entries:
        return f"has no text in {' and '.join(scene.missing_entries)}: add it"
    return "does not exist: create it"


@action()
def discovery_exists(scene: Scene) -> Answer:
    return applied(scene, [discovery(scene.deployed)], "ApplyingDiscovery")


@action()
def client_service_exists(scene: Scene) -> Answer:
    return applied(scene, [client_service(scene.deployed)], "ApplyingService")


@action()
def dashboards_are_current(scene: Scene) -> Answer:
    """They follow the engine: their version is the one that every node has arrived at.

    Nobody is late for nodes that were never to come.
    """
    if not scene.spec.dashboards.enabled:
        name = names.dashboards(scene.deployed.name)
        return gone(scene, [scene.key("v1", "Service", name), scene.key("apps/v1", "Deployment", name)])
    version, patience = scene.seen.cluster.engine_version, scene.spec.upgrade.health_deadline
    if version is None and scene.refusal is not None and not scene.seen.pods:
        return waiting("Refused", "a version that is refused has no nodes", patience=FOR_EVER)
    if version is None:
        return waiting("EngineFirst", "not every node of the engine has arrived", patience=patience)
    wanted = dashboards(scene.deployed, version)
    changing = applied(scene, [dashboards_service(scene.deployed), wanted], "ApplyingDashboards")
    if not changing.is_true or _is_available(scene.live(wanted) or {}):
        return changing
    return waiting("NotReady", f"{Key.of(wanted)} is not ready", patience=patience)


def _is_available(deployment: Manifest) -> bool:
    """Its controller has seen the newest template, and every pod there is is made from it and ready."""
    status, wanted = deployment.get("status") or {}, deployment["spec"]["replicas"]
    counts = [status.get(name, 0) for name in ("replicas", "updatedReplicas", "readyReplicas")]
    has_seen = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return has_seen and all(count == wanted for count in counts)
