"""Everpath: OLM catalogs whose every upgrade path is proven.

The surface for programs, each name imported when it is first asked for:

    catalog = everpath.load("catalog/").catalog
    report = everpath.lint(catalog)
    for finding in report.findings: ...
"""

from __future__ import annotations

__all__ = [
    "Catalog",
    "EverpathError",
    "Finding",
    "Range",
    "Report",
    "Severity",
    "__version__",
    "lint",
    "load",
]

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from everpath.errors import EverpathError
    from everpath.loaders.catalog_loader import load
    from everpath.model import Catalog
    from everpath.ranges import Range
    from everpath.rules.findings import Finding, Severity
    from everpath.rules.lint import Report, lint

__version__: Final = "0.1.0"

#: Where the project lives: rule pages and the issue tracker are below it.
__url__: Final = "https://github.com/everpath/everpath"

_HOMES: Final = {
    "Catalog": "everpath.model",
    "EverpathError": "everpath.errors",
    "Finding": "everpath.rules.findings",
    "Range": "everpath.ranges",
    "Report": "everpath.rules.lint",
    "Severity": "everpath.rules.findings",
    "lint": "everpath.rules.lint",
    "load": "everpath.loaders.catalog_loader",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'everpath' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
