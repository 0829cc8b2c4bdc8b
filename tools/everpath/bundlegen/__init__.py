"""Bundles from the operator's manifests and one release: the files of a bundle, as plain data.

`bundle_files` returns them; the other modules generate parts of the ClusterServiceVersion. The result depends
only on the arguments: no file is read, and neither the clock nor the order of files matters.
"""

from __future__ import annotations

__all__ = [
    "SCORECARD_GROUP",
    "Icon",
    "OperatorManifests",
    "ReleaseMetadata",
    "bundle_files",
    "classify_manifests",
    "image_names",
    "manifest_sources",
    "scaffold_csv",
]

from everpath.bundlegen.bundle import bundle_files, manifest_sources
from everpath.bundlegen.csv import scaffold_csv
from everpath.bundlegen.images import image_names
from everpath.bundlegen.operator_manifests import (
    SCORECARD_GROUP,
    Icon,
    OperatorManifests,
    classify_manifests,
)
from everpath.bundlegen.release_metadata import ReleaseMetadata
