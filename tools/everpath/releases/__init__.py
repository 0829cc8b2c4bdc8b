"""releases.yaml: the one source that a package's bundles and catalogs are made from.

    source.py          what the file says, as data
    edges.py           from it to the channels of one catalog
    bundle_edges.py    the one set of edges that a CSV has room for
    checks.py          what is wrong with it, each complaint with its remedy
    cutting.py         a release more, or one withdrawn, as edits of the file
    reconstruction.py  from the channels of a catalog back to a source

Pure: the file itself is read and edited by `everpath.loaders.releases`.
"""

from __future__ import annotations

__all__ = ["DeclaredEdges", "Release", "ReleasesFile", "Variant", "catalog_package"]

from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import DeclaredEdges, Release, ReleasesFile, Variant
