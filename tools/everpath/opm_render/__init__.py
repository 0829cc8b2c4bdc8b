"""What opm makes of bundles and catalog templates: the blobs of a file-based catalog, as plain data."""

from __future__ import annotations

__all__ = ["Blob", "RenderedBundle", "render_bundle"]

from everpath.opm_render.bundles import Blob, RenderedBundle, render_bundle
