"""What the operator writes about a resource, field by field: what is not declared here would be dropped."""

from __future__ import annotations

__all__ = [
    "ClusterStatus",
    "ConditionStatus",
    "PastUpgrade",
    "Phase",
    "PoolStatus",
    "StepStatus",
    "SummaryType",
    "UpgradeStatus",
]

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from searchkeeper.api.schema import FieldSchema, Int64, Timestamp
from searchkeeper.planner import Status


class SummaryType(StrEnum):
    """The conditions that summarise all others, in the order in which a status has them."""

    READY = "Ready"
    PROGRESSING = "Progressing"
    DEGRADED = "Degraded"


class Phase(StrEnum):
    """A cluster in one word, for a printer column. Programs read the summary conditions."""

    PENDING = "Pending"
    RUNNING = "Running"
    UPGRADING = "Upgrading"
    ROLLING_BACK = "RollingBack"
    STALLED = "Stalled"
    REFUSED = "Refused"
    DELETING = "Deleting"


@dataclass(frozen=True, slots=True)
class ConditionStatus:
    """What an action answered."""

    type: Annotated[str, FieldSchema("The action.", max_length=316)]
    status: Annotated[Status, FieldSchema("Whether what it wants holds.")]
    reason: Annotated[str, FieldSchema("Why, in one word.", min_length=1, max_length=1024)]
    message: Annotated[str, FieldSchema("Why, in a sentence.", max_length=32768)]
    last_transition_time: Annotated[Timestamp, FieldSchema("Since when the status is what it is.")]
    observed_generation: Annotated[Int64 | None, FieldSchema("The generation this speaks of.", minimum=0)] = (
        None
    )


@dataclass(frozen=True, slots=True)
class StepStatus:
    """One pool's turn in an upgrade."""

    name: Annotated[str, FieldSchema("The pool.")]
    state: Annotated[str, FieldSchema("Pending, Running or Done.")]
    at: Annotated[Timestamp, FieldSchema("Since when.")]


@dataclass(frozen=True, slots=True)
class PastUpgrade:
    """An upgrade that is over."""

    before: Annotated[str | None, FieldSchema("The version it left.", name="from")] = None
    target: Annotated[str | None, FieldSchema("The version it was to reach.")] = None
    started_at: Annotated[Timestamp | None, FieldSchema("When it began.")] = None
    finished_at: Annotated[Timestamp | None, FieldSchema("When it was over.")] = None
    result: Annotated[str | None, FieldSchema("Finished or RolledBack.")] = None


@dataclass(frozen=True, slots=True)
class UpgradeStatus:
    """The upgrade under way, and those before."""

    before: Annotated[str | None, FieldSchema("The version that is left.", name="from")] = None
    target: Annotated[str | None, FieldSchema("The version that is to be reached.")] = None
    started_at: Annotated[Timestamp | None, FieldSchema("When it began.")] = None
    pool: Annotated[str | None, FieldSchema("The pool whose turn it is.")] = None
    steps: Annotated[tuple[StepStatus, ...], FieldSchema("One for each pool, in the order they go.")] = ()
    history: Annotated[tuple[PastUpgrade, ...], FieldSchema("The last upgrades, oldest first.")] = ()


_Conditions = Annotated[
    tuple[ConditionStatus, ...], FieldSchema("One for each action of the last cycle.", key="type")
]
_Ledger = Annotated[
    Mapping[str, str] | None,
    FieldSchema("What the operator has begun and must finish or undo, as JSON. Not for people to edit."),
]
_Generation = Annotated[Int64 | None, FieldSchema("The generation this speaks of.")]


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """What a cluster is."""

    conditions: _Conditions = ()
    ledger: _Ledger = None
    current_version: Annotated[
        int | None, FieldSchema("The configuration version that what is deployed follows.")
    ] = None
    engine_version: Annotated[str | None, FieldSchema("The OpenSearch version every node runs.")] = None
    phase: Annotated[Phase | None, FieldSchema("In one word.")] = None
    ready: Annotated[str | None, FieldSchema("Nodes that are ready, of those wanted.")] = None
    observed_generation: _Generation = None
    upgrade: Annotated[
        UpgradeStatus | None,
        # Releases may tell more than this one; none drops what another has told.
        FieldSchema("The upgrade under way, step by step, and those before it.", is_open=True),
    ] = None


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """What a pool is."""

    conditions: _Conditions = ()
    ledger: _Ledger = None
    current_version: Annotated[int | None, FieldSchema("The configuration version it follows.")] = None
    engine_version: Annotated[str | None, FieldSchema("The lowest version any of its nodes runs.")] = None
    replicas: Annotated[int | None, FieldSchema("Nodes there are.")] = None
    ready_replicas: Annotated[int | None, FieldSchema("Nodes that are ready.")] = None
    observed_generation: _Generation = None
