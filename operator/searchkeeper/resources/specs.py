"""What users write, as values: the one source of the schemas in the resource definitions."""

from __future__ import annotations

__all__ = ["ClusterSpec", "Dashboards", "PoolSpec", "Rollback", "Security", "Storage", "UpgradePolicy"]

from dataclasses import dataclass, field
from enum import StrEnum


class Rollback(StrEnum):
    """What happens when a step fails and the way back is still open."""

    AUTOMATIC = "Automatic"
    MANUAL = "Manual"
    OFF = "Off"


@dataclass(frozen=True, slots=True)
class Storage:
    """Where the nodes of a pool keep their data. Ephemeral data lives and dies with the pod."""

    size: str = "10Gi"
    storage_class: str | None = None
    ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """Nodes that share roles, storage and size."""

    name: str
    roles: frozenset[str]
    replicas: int
    storage: Storage = field(default_factory=Storage)

    @property
    def votes(self) -> bool:
        return "cluster_manager" in self.roles

    @property
    def holds_data(self) -> bool:
        return "data" in self.roles


@dataclass(frozen=True, slots=True)
class Dashboards:
    """OpenSearch Dashboards, upgraded after the engine."""

    enabled: bool = False
    replicas: int = 1


@dataclass(frozen=True, slots=True)
class UpgradePolicy:
    """How an upgrade goes about it."""

    max_batch: int = 1
    health_deadline: int = 900
    paused: bool = False
    rollback: Rollback = Rollback.MANUAL
    accept_single_copy_loss: bool = False


@dataclass(frozen=True, slots=True)
class Security:
    """The Secrets that hold certificates and credentials."""

    tls_secret: str | None = None
    credentials_secret: str | None = None


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """What a cluster should be."""

    version: str
    pools: tuple[PoolSpec, ...]
    dashboards: Dashboards = field(default_factory=Dashboards)
    upgrade: UpgradePolicy = field(default_factory=UpgradePolicy)
    security: Security = field(default_factory=Security)
