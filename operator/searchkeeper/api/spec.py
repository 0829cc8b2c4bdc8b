"""What users write, as values: the one source of the schemas in the resource definitions."""

from __future__ import annotations

__all__ = [
    "HAS_MANAGERS_RULE",
    "MIN_BATCH",
    "MIN_DEADLINE",
    "ROLES",
    "ClusterSpec",
    "Dashboards",
    "PoolSpec",
    "Rollback",
    "SearchPoolSpec",
    "Security",
    "Storage",
    "UpgradePolicy",
]

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Final

from searchkeeper.api.schema import FieldSchema, Rule

ROLES: Final = ("cluster_manager", "data", "ingest", "ml", "coordinating")

# Less makes no sense, and counts as much as this.
MIN_BATCH: Final = 1
MIN_DEADLINE: Final = 30

_VERSION: Final = r"^\d+\.\d+\.\d+$"
# Of another object that the spec refers to: without a slash in it, which would lead elsewhere.
_NAME: Final = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
# A StatefulSet's claims are settled when it is created.
_STAYS: Final = Rule(
    "self == oldSelf",
    "a pool's storage cannot be changed: add a pool with the storage you want, then remove this one",
)
# Nodes that change their roles have given nothing away: neither shards, with which they refuse to start, nor
# votes, which nobody could cast any more.
_KEEP_ROLES: Final = Rule(
    "oldSelf.all(role, role in self || !(role in ['data', 'cluster_manager']))",
    "the roles data and cluster_manager cannot be taken from a pool: add a pool without them, then remove "
    "this one, and its shards and votes leave first",
)
# With none of them nobody can be elected, and a cluster that is scaled to that has lost its state.
HAS_MANAGERS_RULE: Final = Rule(
    "self.exists(pool, 'cluster_manager' in pool.roles && pool.replicas > 0)",
    "some pool with the role cluster_manager must have a node, or nobody can be elected",
)


class Rollback(StrEnum):
    """What happens when a step fails and the way back is still open."""

    AUTOMATIC = "Automatic"
    MANUAL = "Manual"
    OFF = "Off"


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the nodes of a pool keep their data. Ephemeral data lives and dies with the pod."""

    size: Annotated[
        str,
        FieldSchema(
            "Of each node's volume.",
            max_length=32,
            pattern=r"^[1-9][0-9]*(\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$",
        ),
    ] = "10Gi"
    storage_class: Annotated[
        str | None,
        FieldSchema("The cluster's default when absent.", min_length=1, max_length=253, pattern=_NAME),
    ] = None
    ephemeral: Annotated[
        bool, FieldSchema("Data lives and dies with the pod, so a node is drained before it restarts.")
    ] = False


_Roles = Annotated[frozenset[str], FieldSchema("What its nodes do.", one_of=ROLES, min_items=1, max_items=5)]
_KeptRoles = Annotated[
    frozenset[str],
    FieldSchema("What its nodes do.", one_of=ROLES, min_items=1, max_items=5, rules=(_KEEP_ROLES,)),
]
_Storage = Annotated[Storage, FieldSchema("Where its nodes keep their data.", rules=(_STAYS,))]


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """Nodes that share roles, storage and size."""

    name: Annotated[
        str,
        FieldSchema(
            "Unique in the cluster; part of the names of its pods.",
            pattern="^[a-z]([-a-z0-9]*[a-z0-9])?$",
            max_length=24,
        ),
    ]
    roles: _KeptRoles
    replicas: Annotated[int, FieldSchema("How many nodes.", minimum=0, maximum=200)]
    storage: _Storage = field(default_factory=Storage)

    @property
    def votes(self) -> bool:
        return "cluster_manager" in self.roles

    @property
    def holds_data(self) -> bool:
        return "data" in self.roles


@dataclass(frozen=True, slots=True)
class Dashboards:
    """OpenSearch Dashboards, upgraded after the engine."""

    enabled: Annotated[bool, FieldSchema("Whether there are any.")] = False
    replicas: Annotated[int, FieldSchema("How many.", minimum=0, maximum=200)] = 1


@dataclass(frozen=True, slots=True)
class UpgradePolicy:
    """How an upgrade goes about it."""

    max_batch: Annotated[
        int, FieldSchema("The most nodes without a vote that restart together.", minimum=MIN_BATCH)
    ] = 1
    health_deadline: Annotated[
        int,
        FieldSchema(
            "How long one step may wait for health before it counts as failed.",
            name="healthDeadlineSeconds",
            minimum=MIN_DEADLINE,
        ),
    ] = 900
    paused: Annotated[bool, FieldSchema("Start no further step.")] = False
    rollback: Annotated[
        Rollback, FieldSchema("What happens when a step fails and the way back is still open.")
    ] = Rollback.MANUAL
    accept_single_copy_loss: Annotated[
        bool, FieldSchema("Restart a node although it holds the only copy of a shard.")
    ] = False


@dataclass(frozen=True, slots=True)
class Security:
    """The Secrets that hold certificates and credentials."""

    tls_secret: Annotated[
        str | None,
        FieldSchema("Holds tls.crt and tls.key and ca.crt.", min_length=1, max_length=253, pattern=_NAME),
    ] = None
    credentials_secret: Annotated[
        str | None,
        FieldSchema("Holds username and password.", min_length=1, max_length=253, pattern=_NAME),
    ] = None


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """What a cluster should be."""

    version: Annotated[
        str,
        FieldSchema(
            "The OpenSearch version to run. Raising it starts an upgrade.", pattern=_VERSION, max_length=32
        ),
    ]
    pools: Annotated[
        tuple[PoolSpec, ...],
        FieldSchema(
            "Groups of nodes that share roles, storage and size.",
            key="name",
            min_items=1,
            max_items=32,
            rules=(HAS_MANAGERS_RULE,),
        ),
    ]
    dashboards: Annotated[Dashboards, FieldSchema("OpenSearch Dashboards, upgraded after the engine.")] = (
        field(default_factory=Dashboards)
    )
    upgrade: Annotated[UpgradePolicy, FieldSchema("How an upgrade goes about it.")] = field(
        default_factory=UpgradePolicy
    )
    security: Annotated[Security, FieldSchema("Where secrets are.")] = field(default_factory=Security)


@dataclass(frozen=True, slots=True)
class SearchPoolSpec:
    """What a cluster wants of one of its pools, as the operator writes it into a SearchPool."""

    cluster: Annotated[str, FieldSchema("The SearchCluster it belongs to.")]
    roles: _Roles
    replicas: Annotated[int, FieldSchema("How many nodes.", minimum=0)]
    engine_version: Annotated[str | None, FieldSchema("The version its nodes should run by now.")] = None
    storage: Annotated[Storage, FieldSchema("Where its nodes keep their data.")] = field(
        default_factory=Storage
    )
