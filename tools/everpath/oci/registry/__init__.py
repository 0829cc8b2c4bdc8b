"""Client of the OCI distribution API: resolve, read and push images in registries."""

from __future__ import annotations

__all__ = [
    "ProgressCallback",
    "RegistryBlobs",
    "RegistryOptions",
    "RetryPolicy",
    "TransferProgress",
    "push_image",
    "resolve_image",
    "with_progress",
]

from everpath.oci.registry.options import RegistryOptions, RetryPolicy
from everpath.oci.registry.progress import ProgressCallback, TransferProgress, with_progress
from everpath.oci.registry.pull import RegistryBlobs, resolve_image
from everpath.oci.registry.push import push_image
