"""A mirror as an ImageSetConfiguration of oc-mirror."""

from __future__ import annotations

__all__ = ["render"]

import json
from collections.abc import Iterator

from everpath.paths.report import PathsReport


def render(report: PathsReport, catalog: str) -> Iterator[str]:
    """Yield YAML. Strings are written as JSON, so that no name is read as another type."""
    package = report.query.package
    yield "kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  operators:\n"
    for mirror in report.mirrors:
        yield f"  - catalog: {json.dumps(catalog)}\n    packages:\n    - name: {json.dumps(package.name)}\n"
        yield "      bundles:\n" if mirror.bundles else "      bundles: []\n"
        for name in mirror.bundles:
            bundle = package.package.by_name.get(name)
            image = f"  # {json.dumps(bundle.image)[1:-1]}" if bundle and bundle.image else ""
            yield f"      - name: {json.dumps(name)}{image}\n"
