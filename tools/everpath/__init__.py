"""Everpath checks the upgrade paths of OLM catalogs.

    import everpath

    catalog = everpath.load("catalog/")
    for finding in everpath.lint(catalog, select=["fork"]).findings:
        print(finding.file, finding.line, finding.rule, finding.message, finding.fix)
    for path in everpath.upgrade_paths(catalog, "searchkeeper", "stable"):
        print(path.installed, list(path.hops), path.end, path.reason)

The names of `__all__` are stable. They are imported on first use, so that `everpath --help` starts quickly.
"""

from __future__ import annotations

__all__ = [
    "Catalog",
    "Comparison",
    "EverpathError",
    "Explanation",
    "Finding",
    "PathEnd",
    "Range",
    "Report",
    "Severity",
    "UpgradePath",
    "Version",
    "__version__",
    "compare",
    "explain",
    "lint",
    "load",
    "upgrade_paths",
]

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from everpath.api import compare, explain, lint, load, upgrade_paths
    from everpath.comparison.catalogs import Comparison
    from everpath.errors import EverpathError
    from everpath.explanation import Explanation
    from everpath.model import Catalog
    from everpath.ranges import Range
    from everpath.rules.findings import Finding, Severity
    from everpath.rules.lint import Report
    from everpath.upgrade_path.hops import PathEnd
    from everpath.upgrade_path.path import UpgradePath
    from everpath.versions import Version

__version__: Final = "0.1.0"

#: The project; rule pages and the issue tracker are below it.
__url__: Final = "https://github.com/everpath/everpath"

_MODULES: Final = {
    "Catalog": "everpath.model",
    "Comparison": "everpath.comparison.catalogs",
    "EverpathError": "everpath.errors",
    "Explanation": "everpath.explanation",
    "Finding": "everpath.rules.findings",
    "PathEnd": "everpath.upgrade_path.hops",
    "Range": "everpath.ranges",
    "Report": "everpath.rules.lint",
    "Severity": "everpath.rules.findings",
    "UpgradePath": "everpath.upgrade_path.path",
    "Version": "everpath.versions",
    "compare": "everpath.api",
    "explain": "everpath.api",
    "lint": "everpath.api",
    "load": "everpath.api",
    "upgrade_paths": "everpath.api",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'everpath' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
