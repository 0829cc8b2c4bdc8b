"""The status of SearchCluster and SearchPool. An API server drops fields that are not declared here."""

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
    """A condition: a summary of the resource, or the result of one action."""

    type: Annotated[
        str, FieldSchema("Ready, Progressing, Degraded, or the name of an action.", max_length=316)
    ]
    status: Annotated[Status, FieldSchema("True, False or Unknown.")]
    reason: Annotated[
        str, FieldSchema("The reason of the status, in CamelCase.", min_length=1, max_length=1024)
    ]
    message: Annotated[str, FieldSchema("The reason of the status, for people.", max_length=32768)]
    last_transition_time: Annotated[Timestamp, FieldSchema("When the status changed last.")]
    observed_generation: Annotated[
        Int64 | None, FieldSchema("The generation that was observed.", minimum=0)
    ] = None


@dataclass(frozen=True, slots=True)
class StepStatus:
    """The progress of one pool in an upgrade."""

    name: Annotated[str, FieldSchema("The pool.")]
    state: Annotated[str, FieldSchema("Pending, Running or Done.")]
    at: Annotated[Timestamp, FieldSchema("When the state changed last.")]


@dataclass(frozen=True, slots=True)
class PastUpgrade:
    """A finished upgrade."""

    before: Annotated[str | None, FieldSchema("The version before it.", name="from")] = None
    target: Annotated[str | None, FieldSchema("Its target version.")] = None
    started_at: Annotated[Timestamp | None, FieldSchema("When it started.")] = None
    finished_at: Annotated[Timestamp | None, FieldSchema("When it finished.")] = None
    result: Annotated[str | None, FieldSchema("Finished or RolledBack.")] = None
    snapshot: Annotated[str | None, FieldSchema("The snapshot from before it: repository/name.")] = None


@dataclass(frozen=True, slots=True)
class UpgradeStatus:
    """The upgrade in progress, and the last ones."""

    before: Annotated[str | None, FieldSchema("The version before it.", name="from")] = None
    target: Annotated[str | None, FieldSchema("Its target version.")] = None
    started_at: Annotated[Timestamp | None, FieldSchema("When it started.")] = None
    pool: Annotated[str | None, FieldSchema("The pool that is upgraded now.")] = None
    steps: Annotated[
        tuple[StepStatus, ...], FieldSchema("One for each pool, in the order of the rollout.")
    ] = ()
    # Not declared: `snapshot`, the snapshot from before it. Released CRDs take any value of it here, and a
    # type would be a stricter validation of the same version.
    history: Annotated[tuple[PastUpgrade, ...], FieldSchema("The last upgrades, oldest first.")] = ()


_Conditions = Annotated[
    tuple[ConditionStatus, ...],
    FieldSchema(
        "Ready, Progressing and Degraded, then one for each action of the last reconcile.", key="type"
    ),
]
_Ledger = Annotated[
    Mapping[str, str] | None,
    FieldSchema("What the operator has begun and must finish or undo, as JSON. Do not edit."),
]
_Generation = Annotated[Int64 | None, FieldSchema("The generation that was observed.")]


@dataclass(frozen=True, slots=True)
class ClusterStatus:
    """The status of a SearchCluster."""

    conditions: _Conditions = ()
    ledger: _Ledger = None
    current_version: Annotated[
        int | None, FieldSchema("The configuration version of the deployed objects.")
    ] = None
    engine_version: Annotated[str | None, FieldSchema("The OpenSearch version every node runs.")] = None
    phase: Annotated[Phase | None, FieldSchema("The summary conditions in one word.")] = None
    ready: Annotated[str | None, FieldSchema("Ready nodes of wanted nodes.")] = None
    observed_generation: _Generation = None
    upgrade: Annotated[
        UpgradeStatus | None,
        # Open: an older release must not drop fields of a newer one.
        FieldSchema("The upgrade in progress with its steps, and the last ones.", is_open=True),
    ] = None


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """The status of a SearchPool."""

    conditions: _Conditions = ()
    ledger: _Ledger = None
    current_version: Annotated[int | None, FieldSchema("The configuration version of its StatefulSet.")] = (
        None
    )
    engine_version: Annotated[str | None, FieldSchema("The lowest engine version of its nodes.")] = None
    replicas: Annotated[int | None, FieldSchema("Existing nodes.")] = None
    ready_replicas: Annotated[int | None, FieldSchema("Ready nodes.")] = None
    observed_generation: _Generation = None
