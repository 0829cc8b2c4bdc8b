"""releases.yaml as data: the file that a package's bundles and catalogs are generated from.

    model            the content of the file
    channel_edges    the package of one catalog: channels, edges, deprecations
    csv_edges        the edges in the CSV of a release, which has one set for all channels
    validation       the problems of a file, each with its fix
    release_plan     a new or withdrawn release as edits of the file
    reconstruction   a file from the channels of an existing catalog

This package reads and writes no files: `everpath.loaders.releases` does.
"""

from __future__ import annotations

__all__ = ["DeclaredEdges", "Release", "ReleasesFile", "Variant", "catalog_package"]

from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import DeclaredEdges, Release, ReleasesFile, Variant
