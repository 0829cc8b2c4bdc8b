"""What an action looks at: the world, the version it brings about, and the spec that counts."""

from __future__ import annotations

__all__ = ["Scene"]

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from searchkeeper.configuration import names
from searchkeeper.configuration.manifests import Deployed, stateful_set
from searchkeeper.engine.view import EngineView
from searchkeeper.observed import Observed, PoolView
from searchkeeper.resources.codec import pool_spec, pools_json
from searchkeeper.resources.specs import ClusterSpec, PoolSpec
from searchkeeper.upgrade.journal import Journal
from searchkeeper.upgrade.order import pools_in_order
from searchkeeper.versions import Refusal, parse, refusal
from searchkeeper.writes import Key, Manifest


@dataclass(frozen=True)
class Scene:
    """One resource's view of one cycle. Computed parts are computed once."""

    seen: Observed
    version: int

    @cached_property
    def journal(self) -> Journal:
        return Journal(self.seen.cluster.records.ledger)

    @property
    def spec(self) -> ClusterSpec:
        return self.seen.cluster.spec

    @property
    def spec_to_lock(self) -> str:
        """What is deployed at this moment, as a spec: pools as they stand, whatever else is wanted of them.

        Scaling that was asked for together with an upgrade is thereby asked for again when it is over.
        """
        pools = pools_json(each for each in map(self._standing, self.seen.pools) if each is not None)
        written = {**json.loads(self.seen.cluster.written), "pools": pools}
        return json.dumps(written, sort_keys=True, separators=(",", ":"))

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
        """In the order they are upgraded; the other way round on the way back.

        A pool that is not wanted any more goes along until its last node has left.
        """
        ordered = pools_in_order(self.seen.pools, leaves_major=self._leaves_major)
        return tuple(reversed(ordered)) if self.journal.returns_to else ordered

    @cached_property
    def turn(self) -> str | None:
        """The one pool whose template may change: the first that is not what it should be, or not at rest."""
        return next((pool.spec.name for pool in self.pools if not self._is_settled(pool)), None)

    @cached_property
    def refusal(self) -> Refusal | None:
        """Why the wanted engine version is not brought about, if it is not."""
        cluster, under_way = self.seen.cluster, self.journal.under_way
        running = self._newest_running if under_way is None else under_way[0]
        return refusal(running, cluster.spec.version, self.seen.release) or self._without_memory(running)

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

    @property
    def _newest_running(self) -> str | None:
        """What runs; while a new cluster has not arrived anywhere yet, the newest that has joined it."""
        if self.seen.cluster.engine_version is not None or not isinstance(self.seen.engine, EngineView):
            return self.seen.cluster.engine_version
        versions = (parse(node.version) for node in self.seen.engine.nodes)
        newest = max((each for each in versions if each is not None), default=None)
        return None if newest is None else str(newest)

    def _without_memory(self, running: str | None) -> Refusal | None:
        """Managers on ephemeral storage forget the cluster when they restart: no upgrade begins like that."""
        if running is None or running == self.spec.version:
            return None
        forgetful = [pool.name for pool in self.spec.pools if pool.votes and pool.storage.ephemeral]
        if not forgetful:
            return None
        sentence = f"the managers of {', '.join(forgetful)} keep the cluster's state on ephemeral storage"
        return Refusal("MetadataNotPersistent", sentence)

    def _standing(self, pool: PoolView) -> PoolSpec | None:
        name = names.pool_name(self.deployed.name, pool.spec.name)
        child = self.seen.objects.get(self.key(f"{names.GROUP}/v1alpha1", "SearchPool", name))
        if child is None:
            return None
        spec, found = pool_spec(pool.spec.name, child["spec"]), pool.stateful_set
        return spec if found is None else replace(spec, replicas=found.replicas)

    def _is_settled(self, pool: PoolView) -> bool:
        found = pool.stateful_set
        if found is None and not pool.is_wanted:
            return True
        return (
            pool.permitted == self.target
            and found is not None
            and found.configuration == self.version
            and found.template == self.template(pool)
            and not pool.stale_pods
            and len(pool.staying) >= min(found.replicas, pool.replicas)
            and all(pod.is_ready and not pod.is_terminating for pod in pool.staying)
        )

    def _credentials(self) -> Mapping[str, str]:
        """Those of the Secret that the spec names; while it is missing, those that nodes have already.

        While an upgrade is under way nodes keep those that they have.
        """
        name, cluster = self.spec.security.credentials_secret, self.seen.cluster.key.name
        if name is None:
            return {}
        ours = (names.credentials_secret(cluster), names.old_config_secret(cluster))
        order = (name, *ours) if self.journal.lock is None else (*ours, name)
        found = (self.seen.objects.get(self.key("v1", "Secret", each)) for each in order)
        data: Mapping[str, str] = next((each for each in found if each is not None), {}).get("data") or {}
        texts = {key: base64.b64decode(text).decode() for key, text in data.items()}
        return {key: text for key, text in texts.items() if key != names.SETTINGS_FILE}
