"""Images in registries: asked for, sent and fetched over the OCI distribution API."""

from __future__ import annotations

__all__ = ["Hear", "Options", "RemoteContent", "Step", "heard", "pull", "push", "resolve"]

from everpath.images.remote.options import Options
from everpath.images.remote.progress import Hear, Step
from everpath.images.remote.pulling import heard, pull
from everpath.images.remote.pushing import push
from everpath.images.remote.registry import RemoteContent, resolve
