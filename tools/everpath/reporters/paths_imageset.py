"""A mirror as the list that oc-mirror reads: the operators of an ImageSetConfiguration."""

from __future__ import annotations

__all__ = ["render"]

import json
from collections.abc import Iterator

from everpath.paths.report import Roadbook


def render(book: Roadbook, catalog: str) -> Iterator[str]:
    """YAML, in which every text stands as JSON writes it, so that no name can be anything else."""
    package = book.question.package
    yield "kind: ImageSetConfiguration\napiVersion: mirror.openshift.io/v2alpha1\nmirror:\n  operators:\n"
    for mirror in book.mirrors:
        yield f"  - catalog: {json.dumps(catalog)}\n    packages:\n    - name: {json.dumps(package.name)}\n"
        yield "      bundles:\n" if mirror.bundles else "      bundles: []\n"
        for name in mirror.bundles:
            bundle = package.package.by_name.get(name)
            image = f"  # {json.dumps(bundle.image)[1:-1]}" if bundle and bundle.image else ""
            yield f"      - name: {json.dumps(name)}{image}\n"
