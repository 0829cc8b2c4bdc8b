"""The input and output of a resolver, and the trace of how it chose."""

from __future__ import annotations

__all__ = [
    "CandidateResult",
    "FailureKind",
    "InstalledBundle",
    "ReasonForm",
    "Resolution",
    "ResolutionFailure",
    "TraceStep",
    "Tracer",
]

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from everpath.graph import Edge
from everpath.versions import Version


class InstalledBundle(NamedTuple):
    """The bundle that runs on a cluster. It need not be in a catalog. `version` None: it does not parse."""

    name: str
    version: Version | None


class FailureKind(StrEnum):
    """Why a resolver fails.

    Under OLM v0 every failure stops all updates in the namespace, because all its Subscriptions are resolved
    together. Under OLM v1 it stops only the ClusterExtension.
    """

    NO_HEAD = "no head"
    SEVERAL_HEADS = "several heads"
    CYCLE = "cycle"
    PANIC = "panic"
    NO_CHANNEL = "no channel"
    NO_STARTING_CSV = "no startingCSV"
    NOTHING_INSTALLABLE = "nothing installable"
    NO_BUNDLES = "no bundles"
    SEVERAL_CATALOGS = "several catalogs"
    HAS_DEPENDENCIES = "has dependencies"
    UNREADABLE_RANGE = "unreadable version range"
    UNREADABLE_VERSION = "unreadable version"


class ResolutionFailure(NamedTuple):
    """A failed resolution: the entries that cause it, and OLM's message if that is the same in every run."""

    kind: FailureKind
    names: tuple[str, ...]
    message: str = ""


class CandidateResult(StrEnum):
    """What a resolver does with a candidate."""

    TAKEN = "taken"
    PASSED_OVER = "passed over"
    REFUSED = "refused"


class ReasonForm(StrEnum):
    """What a reason is grammatically. Texts add a subject to a predicate, and shorten a message."""

    #: `is lower than b`. Texts add the subject: `it`, or `each` for several candidates.
    PREDICATE = "predicate"
    #: `catalog a has a higher priority`. It has its own subject.
    CLAUSE = "clause"
    #: The message of the failure. `everpath why` shows it once, and not again for the candidate.
    MESSAGE = "message"


class TraceStep(NamedTuple):
    """One candidate that a resolver examined, the edge that leads to it, the result and the reason."""

    entry: str
    result: CandidateResult
    reason: str
    edge: Edge | None = None
    catalog: str | None = None
    form: ReasonForm = ReasonForm.PREDICATE


#: Receives every step of a resolution, in the order in which the resolver examines candidates.
Tracer = Callable[[TraceStep], None]


class Resolution(NamedTuple):
    """The next hop from what is installed; None if it stays or the resolver fails.

    `catalog` is the catalog of the chosen bundle. `deprecations` is the catalog whose olm.deprecations the
    status shows: in OLM v1 the last catalog with a candidate, even if another one was chosen. A deprecated
    candidate does not count beside one that is not.
    """

    next: str | None
    failure: ResolutionFailure | None = None
    catalog: str | None = None
    deprecations: str | None = None
