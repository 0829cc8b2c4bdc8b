"""Images in registries: asked for, sent and fetched over the OCI distribution API."""

from __future__ import annotations

__all__ = ["Hear", "Options", "RemoteContent", "Step", "heard", "pull", "push", "resolve"]

from everpath.oci.registry.options import Options
from everpath.oci.registry.progress import Hear, Step
from everpath.oci.registry.pull import RemoteContent, resolve
from everpath.oci.registry.pulling import heard, pull
from everpath.oci.registry.push import push
