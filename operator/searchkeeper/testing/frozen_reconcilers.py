"""What a procedure makes of sample clusters, object by object: what must stay once it has been released.

Whoever runs a release relies on what it deploys. A released procedure that makes other objects would change
them under a user who asked for nothing, and a later one could not take over from what it believes is there.
"""

from __future__ import annotations

__all__ = ["Content", "Table", "additions", "drift", "objects_of", "table"]

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, Final, TypeAlias

from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.planner.actions import Action, closure
from searchkeeper.reconcile import reconcile
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS, POOL_RECONCILERS
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.manifests import annotation
from searchkeeper.testing.fingerprints import without_counters
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from searchkeeper.versions import Release

# The digest of each object of each sample, and of what the procedure consists of.
Content: TypeAlias = dict[str, str]
# By release, by procedure.
Table: TypeAlias = dict[str, dict[str, Content]]

_KEY: Final = Key(f"{names.GROUP}/v1alpha1", "SearchCluster", "search", "logs")
_MANAGERS: Final = {"name": "managers", "roles": ["cluster_manager"], "replicas": 3}
_SAMPLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "plain": {"pools": [{"name": "data", "roles": ["data"], "replicas": 2}, _MANAGERS]},
    "rich": {
        "pools": [
            {"name": "both", "roles": ["cluster_manager", "data"], "replicas": 3},
            {"name": "brief", "roles": ["data"], "replicas": 2, "storage": {"ephemeral": True}},
            {"name": "rest", "roles": ["ingest", "ml"], "replicas": 2, "storage": {"storageClass": "fast"}},
        ],
        "dashboards": {"enabled": True, "replicas": 2},
        "security": {"tlsSecret": "tls", "credentialsSecret": "admin"},
    },
}
_SECRETS: Final = {"admin": {"username": "YQ==", "password": "Yg=="}, "tls": {"ca.crt": "Yw=="}}
_STRUCTURE: Final = "its graph of actions"
# Cycles that came to no end: far more than any sample takes.
_MOST: Final = 2000


def table(releases: Iterable[Release]) -> Table:
    """What every procedure of these releases makes."""
    return {each.version: {str(v): objects_of(each, v) for v in each.configurations} for each in releases}


def objects_of(release: Release, version: int) -> Content:
    """Every object that this procedure of a release makes, of new clusters and out of earlier ones."""
    return _made(version, release.oldest_engine, release.newest_engine)


@cache
def _made(version: int, oldest: str, newest: str) -> Content:
    found = {_STRUCTURE: _digest(_structure(version))}
    for sample in _SAMPLES:
        new = _objects(_deployed(sample, (version,), oldest, newest))
        found |= {f"{key} of a {sample} cluster": digest for key, digest in new.items()}
        for origin in range(max(1, CLUSTER_RECONCILERS[version].min_version), version):
            over = _objects(_deployed(sample, (origin, version), oldest, newest))
            found[f"all of a {sample} cluster that was at {origin}"] = _digest(sorted(over.items()))
    return found


def _structure(version: int) -> Any:
    """From which version it starts, and what each action waits for."""
    cluster, pool = CLUSTER_RECONCILERS[version], POOL_RECONCILERS[version]
    return [
        (cluster.min_version, sorted(map(_waits, closure(cluster.actions)))),
        (pool.min_version, sorted(map(_waits, closure(pool.actions)))),
    ]


def _waits(action: Action[Any]) -> tuple[str, list[str]]:
    return action.name, sorted(each.name for each in action.requires)


def _deployed(sample: str, path: tuple[int, ...], oldest: str, newest: str) -> FakeCluster:
    """A sample cluster after each of these versions in turn has found nothing left to do."""
    world = FakeCluster()
    for name, data in _SECRETS.items():
        world.create({"apiVersion": "v1", "kind": "Secret", "metadata": _named(name), "data": data})
    spec = {"version": newest, **_SAMPLES[sample]}
    world.create({"apiVersion": _KEY.api, "kind": _KEY.kind, "metadata": _named(_KEY.name), "spec": spec})
    for version in path:
        _settle(world, Release(f"with {version}", (version,), oldest, newest))
    return world


def _named(name: str) -> dict[str, str]:
    return {"name": name, "namespace": _KEY.namespace}


def _settle(world: FakeCluster, release: Release) -> None:
    """Raises LawBroken, and RuntimeError where it comes to no end."""
    ports = InvariantRecorder(world, _KEY, release)
    for _ in range(_MOST):
        done = reconcile(ports, ports, _KEY, release, world.state.now)
        if done.converged:
            return
        if not done.wrote:
            world.tick()
    raise RuntimeError(f"an operator {release.version} comes to no end with a sample")


def _objects(world: FakeCluster) -> dict[Key, str]:
    """Those that say which version made them; what controllers make of them is not its doing."""
    return {
        key: _digest(without_counters(_content(each)))
        for key, each in sorted(world.state.cluster.objects.items())
        if annotation(each, names.CONFIGURATION) is not None
    }


def _content(manifest: Manifest) -> dict[str, Any]:
    """Without its status. Annotations that hold objects are read, as those have UIDs, too."""
    metadata = manifest["metadata"]
    annotations = {name: _read(text) for name, text in (metadata.get("annotations") or {}).items()}
    kept = {name: part for name, part in manifest.items() if name != "status"}
    return {**kept, "metadata": {**metadata, "annotations": annotations}}


def _read(text: str) -> Any:
    return json.loads(text) if text.startswith("{") else text


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def additions(frozen: Table, made: Table) -> list[str]:
    """What is released and not frozen yet: `procedure 4 of 0.5.0`."""
    return [
        f"procedure {procedure} of {release}"
        for release, configurations in made.items()
        for procedure in configurations
        if procedure not in frozen.get(release, {})
    ]


def drift(frozen: Table, made: Table) -> list[str]:
    """What has changed of what is frozen: one sentence for each procedure and object, with its releases."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for release, configurations in frozen.items():
        for procedure, contents in configurations.items():
            for what, how in _differences(contents, made.get(release, {}).get(procedure)):
                found.setdefault((procedure, what, how), []).append(release)
    return [
        f"procedure {procedure} is released with {', '.join(releases)}: {what} {how}"
        for (procedure, what, how), releases in sorted(found.items())
    ]


def _differences(before: Content, after: Content | None) -> Iterator[tuple[str, str]]:
    if after is None:
        yield "it", "is not in catalog/releases.yaml any more"
        return
    for what in sorted({*before, *after}):
        if what not in after:
            yield what, "is not made any more"
        elif what not in before:
            yield what, "was not made before"
        elif before[what] != after[what]:
            yield what, "has other content"
