"""What a resolver is asked, what it answers, and what can be heard while it makes up its mind."""

from __future__ import annotations

__all__ = ["Decision", "Failure", "FailureKind", "Installed", "Remark", "Reporter", "Verdict"]

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from everpath.graph import Edge
from everpath.versions import Version


class Installed(NamedTuple):
    """What runs on a cluster. It need not be in any catalog; a version that does not parse is None."""

    name: str
    version: Version | None


class FailureKind(StrEnum):
    """What stops a resolver. In OLM v0 each fails the whole namespace, new installs included."""

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


class Failure(NamedTuple):
    """A resolver's own failure: the entries that cause it, and its words where they are stable."""

    kind: FailureKind
    names: tuple[str, ...]
    words: str = ""


class Verdict(StrEnum):
    """What becomes of something that a resolver looks at."""

    TAKEN = "taken"
    PASSED_OVER = "passed over"
    REFUSED = "refused"


class Remark(NamedTuple):
    """One thing a resolver looked at, the edge it came by if any, what became of it, and for what reason."""

    entry: str
    verdict: Verdict
    reason: str
    edge: Edge | None = None
    catalog: str | None = None


#: Hears every remark, in the order in which the resolver looks.
Reporter = Callable[[Remark], None]


class Decision(NamedTuple):
    """Where a resolver goes from what is installed: None if it stays, or if it fails.

    `catalog` is the one it is taken from. `deprecations` is the one whose olm.deprecations the status then
    shows: in OLM v1 the last that had an offer, which need not be the one that was chosen.
    """

    next: str | None
    failure: Failure | None = None
    catalog: str | None = None
    deprecations: str | None = None
