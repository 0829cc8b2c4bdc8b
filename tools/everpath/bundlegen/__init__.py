"""The operator's own manifests and one release of it → the files of a bundle, as plain data.

`bundle_files` is the whole of it: everything else in here is a part of the ClusterServiceVersion. What is
written follows from the arguments alone: no clock, no order of folders, no file is read.
"""

from __future__ import annotations

__all__ = [
    "SCORECARD",
    "Icon",
    "Operator",
    "ReleaseFacts",
    "bundle_files",
    "image_names",
    "origins",
    "sorted_out",
    "starting_csv",
]

from everpath.bundlegen.base import starting_csv
from everpath.bundlegen.bundle import bundle_files, origins
from everpath.bundlegen.images import image_names
from everpath.bundlegen.operator_manifests import SCORECARD, Icon, Operator, sorted_out
from everpath.bundlegen.release_metadata import ReleaseFacts
