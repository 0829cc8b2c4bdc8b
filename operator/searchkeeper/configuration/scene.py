"""What an action looks at: the world, the version it brings about, and the spec that counts."""

from __future__ import annotations

__all__ = ["Scene", "spec_in_force"]

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from searchkeeper.configuration import names
from searchkeeper.configuration.manifests import Deployed, stateful_set
from searchkeeper.observed import Observed, PoolView
from searchkeeper.resources.codec import cluster_spec
from searchkeeper.resources.specs import ClusterSpec
from searchkeeper.upgrade.journal import Journal
from searchkeeper.upgrade.order import pools_in_order
from searchkeeper.versions import parse
from searchkeeper.writes import Key, Manifest


def spec_in_force(seen: Observed) -> ClusterSpec:
    """While an upgrade is under way, the spec as it was when it began, but for the upgrade's own policy."""
    lock = Journal(seen.cluster.records.ledger).lock
    if lock is None:
        return seen.cluster.spec
    return replace(cluster_spec(json.loads(lock)), upgrade=seen.cluster.spec.upgrade)


@dataclass(frozen=True)
class Scene:
    """One resource's view of one cycle. Computed parts are computed once."""

    seen: Observed
    version: int

    @cached_property
    def journal(self) -> Journal:
        return Journal(self.seen.cluster.records.ledger)

    @cached_property
    def spec(self) -> ClusterSpec:
        return spec_in_force(self.seen)

    @cached_property
    def deployed(self) -> Deployed:
        cluster = self.seen.cluster
        return Deployed(
            cluster.key.name,
            cluster.key.namespace,
            cluster.uid,
            self.spec,
            self.version,
            tuple(sorted(self._credentials().items())),
        )

    @cached_property
    def target(self) -> str:
        """The engine version that nodes are brought to: an upgrade's, that of its way back, or what runs."""
        back, under_way = self.journal.returns_to, self.journal.under_way
        if back is not None:
            return back
        if under_way is not None:
            return under_way[1]
        return self.seen.cluster.engine_version or self.spec.version

    @cached_property
    def pools(self) -> tuple[PoolView, ...]:
        """In the order they are upgraded; the other way round on the way back."""
        wanted = [pool for pool in self.seen.pools if pool.is_wanted]
        ordered = pools_in_order(wanted, leaves_major=self._leaves_major)
        return tuple(reversed(ordered)) if self.journal.returns_to else ordered

    @cached_property
    def turn(self) -> str | None:
        """The one pool whose template may change: the first that is not what it should be, or not at rest."""
        return next((pool.spec.name for pool in self.pools if not self._is_settled(pool)), None)

    def template(self, pool: PoolView) -> str:
        """The digest of the template that the pool's pods are to be made from in the end."""
        wanted = stateful_set(self.deployed, pool.spec, self.target, None)
        return str(wanted["metadata"]["annotations"][names.TEMPLATE])

    def live(self, wanted: Manifest) -> Manifest | None:
        """The object as it is, for one that is wanted."""
        return self.seen.objects.get(Key.of(wanted))

    def key(self, api: str, kind: str, name: str) -> Key:
        return Key(api, kind, self.seen.cluster.key.namespace, name)

    @property
    def _leaves_major(self) -> bool:
        if self.journal.under_way is None:
            return False
        before, after = map(parse, self.journal.under_way)
        return before is not None and after is not None and before.major < after.major

    def _is_settled(self, pool: PoolView) -> bool:
        found = pool.stateful_set
        return (
            pool.permitted == self.target
            and found is not None
            and found.configuration == self.version
            and found.template == self.template(pool)
            and not pool.stale_pods
            and len(pool.pods) >= found.replicas
            and all(pod.is_ready and not pod.is_terminating for pod in pool.pods)
        )

    def _credentials(self) -> Mapping[str, str]:
        name = self.spec.security.credentials_secret
        secret = self.seen.objects.get(self.key("v1", "Secret", name)) if name else None
        data: Mapping[str, str] = (secret or {}).get("data") or {}
        return {key: base64.b64decode(text).decode() for key, text in data.items()}
