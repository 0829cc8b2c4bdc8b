"""Image labels by which OLM and opm recognise catalogs and bundles."""

from __future__ import annotations

__all__ = [
    "BUNDLE_MANIFESTS_LABEL",
    "BUNDLE_METADATA_LABEL",
    "BUNDLE_TESTS_LABEL",
    "CONFIGS_LABEL",
    "DATABASE_LABEL",
]

from typing import Final

#: The folder of the file-based catalog in an image.
CONFIGS_LABEL: Final = "operators.operatorframework.io.index.configs.v1"
#: The SQLite database of a catalog in the deprecated format.
DATABASE_LABEL: Final = "operators.operatorframework.io.index.database.v1"
BUNDLE_MANIFESTS_LABEL: Final = "operators.operatorframework.io.bundle.manifests.v1"
BUNDLE_METADATA_LABEL: Final = "operators.operatorframework.io.bundle.metadata.v1"
BUNDLE_TESTS_LABEL: Final = "operators.operatorframework.io.test.config.v1"
