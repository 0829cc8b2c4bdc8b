"""A catalog as immutable data."""

from __future__ import annotations

__all__ = [
    "DEPENDENCY_PROPERTIES",
    "UNREAD",
    "Bundle",
    "Catalog",
    "Channel",
    "Csv",
    "Declaration",
    "DeprecationEntry",
    "Deprecations",
    "Entry",
    "Gvk",
    "OpmError",
    "Other",
    "Package",
    "Place",
    "Problem",
    "ProblemKind",
    "Property",
    "SourcePosition",
    "Unread",
    "UpdateMode",
]

from everpath.model.catalog import (
    DEPENDENCY_PROPERTIES,
    UNREAD,
    Bundle,
    Catalog,
    Channel,
    Csv,
    Declaration,
    DeprecationEntry,
    Deprecations,
    Entry,
    Gvk,
    Other,
    Package,
    Place,
    Problem,
    ProblemKind,
    Property,
    Unread,
    UpdateMode,
)
from everpath.model.opm_error import OpmError
from everpath.model.source_position import SourcePosition
