"""What a released reconciler creates for sample clusters, as digests that must not change.

Users rely on what a release deploys. A released reconciler that creates other objects changes clusters whose
spec did not change, and a later reconciler cannot take over from what it expects.
"""

from __future__ import annotations

__all__ = ["ReconcilerDigests", "ReleaseDigests", "digests", "drift", "release_digests", "unfrozen"]

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

# The digest of each object of each sample, and of the reconciler's actions, by description.
ReconcilerDigests: TypeAlias = dict[str, str]
# By operator release, then by configuration version.
ReleaseDigests: TypeAlias = dict[str, dict[str, ReconcilerDigests]]

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
    "configured": {
        "config": {"indices.query.bool.max_clause_count": 2048},
        "keystoreSecret": "admin",
        "plugins": ["analysis-icu"],
        "topologyKey": "topology.kubernetes.io/zone",
        "pools": [
            {
                "name": "data",
                "roles": ["data"],
                "replicas": 2,
                "config": {"node.attr.disk": "ssd"},
                "podTemplate": {
                    "metadata": {"labels": {"team": "search"}},
                    "spec": {
                        "containers": [{"name": "opensearch", "resources": {"limits": {"memory": "4Gi"}}}],
                        "nodeSelector": {"disk": "ssd"},
                        "securityContext": {},
                    },
                },
            },
            _MANAGERS,
        ],
        "dashboards": {"enabled": True, "podTemplate": {"spec": {"nodeSelector": {"disk": "ssd"}}}},
        "security": {"tlsSecret": "tls"},
    },
}
# Samples with fields that take effect from this version on. Samples of released versions do not change.
_SINCE: Final = {"configured": 5}
_SECRETS: Final = {
    "admin": {"username": "YQ==", "password": "Yg=="},
    "tls": {"ca.crt": "Yw==", "tls.crt": "ZA==", "tls.key": "ZQ=="},
}
_ACTIONS: Final = "its graph of actions"
# Far more reconciles than a sample needs.
_MAX_RECONCILES: Final = 2000


def release_digests(releases: Iterable[Release]) -> ReleaseDigests:
    """Return the digests of every reconciler of these releases."""
    return {each.version: {str(v): digests(each, v) for v in each.configurations} for each in releases}


def digests(release: Release, version: int) -> ReconcilerDigests:
    """Return the digests of one reconciler of a release, for new clusters and for migrated ones."""
    return _digests(version, release.oldest_engine, release.newest_engine)


@cache
def _digests(version: int, oldest: str, newest: str) -> ReconcilerDigests:
    found = {_ACTIONS: _digest(_action_graph(version))}
    for sample in (name for name in _SAMPLES if _SINCE.get(name, 0) <= version):
        created = _object_digests(_deploy(sample, (version,), oldest, newest))
        found |= {f"{key} of a {sample} cluster": digest for key, digest in created.items()}
        for origin in range(max(1, CLUSTER_RECONCILERS[version].min_version), version):
            migrated = _object_digests(_deploy(sample, (origin, version), oldest, newest))
            found[f"all of a {sample} cluster that was at {origin}"] = _digest(sorted(migrated.items()))
    return found


def _action_graph(version: int) -> Any:
    """Return the minimum version and every action with its prerequisites."""

    def prerequisites(action: Action[Any]) -> tuple[str, list[str]]:
        return action.name, sorted(each.name for each in action.requires)

    cluster, pool = CLUSTER_RECONCILERS[version], POOL_RECONCILERS[version]
    return [
        (cluster.min_version, sorted(map(prerequisites, closure(cluster.actions)))),
        (pool.min_version, sorted(map(prerequisites, closure(pool.actions)))),
    ]


def _deploy(sample: str, path: tuple[int, ...], oldest: str, newest: str) -> FakeCluster:
    """Return a sample cluster after each of these versions in turn has converged.

    Raises InvariantViolated, and RuntimeError if a version does not converge.
    """
    world = FakeCluster()
    for name, data in _SECRETS.items():
        metadata = {"name": name, "namespace": _KEY.namespace}
        world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    metadata = {"name": _KEY.name, "namespace": _KEY.namespace}
    spec = {"version": newest, **_SAMPLES[sample]}
    world.create({"apiVersion": _KEY.api, "kind": _KEY.kind, "metadata": metadata, "spec": spec})
    for version in path:
        _run_until_converged(world, Release(f"with {version}", (version,), oldest, newest))
    return world


def _run_until_converged(world: FakeCluster, release: Release) -> None:
    ports = InvariantRecorder(world, _KEY, release)
    for _ in range(_MAX_RECONCILES):
        outcome = reconcile(ports, ports, _KEY, release, world.state.now)
        if outcome.converged:
            return
        if not outcome.wrote:
            world.tick()
    raise RuntimeError(f"operator {release.version} does not converge on a sample cluster")


def _object_digests(world: FakeCluster) -> dict[Key, str]:
    """Return the digests of the operator's objects, which are annotated with its configuration version."""
    return {
        key: _digest(without_counters(_content(manifest)))
        for key, manifest in sorted(world.state.cluster.objects.items())
        if annotation(manifest, names.CONFIGURATION) is not None
    }


def _content(manifest: Manifest) -> dict[str, Any]:
    """Return a manifest without its status. JSON annotations are parsed, since they contain UIDs too."""
    metadata = manifest["metadata"]
    annotations = {
        name: json.loads(text) if text.startswith("{") else text
        for name, text in (metadata.get("annotations") or {}).items()
    }
    kept = {name: part for name, part in manifest.items() if name != "status"}
    return {**kept, "metadata": {**metadata, "annotations": annotations}}


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def unfrozen(frozen: ReleaseDigests, actual: ReleaseDigests) -> list[str]:
    """Return the released reconcilers without frozen digests: `reconciler 4 of 0.5.0`."""
    return [
        f"reconciler {version} of {release}"
        for release, versions in actual.items()
        for version in versions
        if version not in frozen.get(release, {})
    ]


def drift(frozen: ReleaseDigests, actual: ReleaseDigests) -> list[str]:
    """Return a sentence for each changed object of a frozen reconciler, with the releases that ship it."""
    releases: dict[tuple[str, str, str], list[str]] = {}
    for release, versions in frozen.items():
        for version, before in versions.items():
            for subject, change in _differences(before, actual.get(release, {}).get(version)):
                releases.setdefault((version, subject, change), []).append(release)
    return [
        f"reconciler {version} is released with {', '.join(shipped)}: {subject} {change}"
        for (version, subject, change), shipped in sorted(releases.items())
    ]


def _differences(before: ReconcilerDigests, after: ReconcilerDigests | None) -> Iterator[tuple[str, str]]:
    if after is None:
        yield "it", "is missing in catalog/releases.yaml"
        return
    for subject in sorted({*before, *after}):
        if subject not in after:
            yield subject, "is no longer created"
        elif subject not in before:
            yield subject, "was not created before"
        elif before[subject] != after[subject]:
            yield subject, "has other content"
