"""Images that a registry really holds, for pods: pulled by skopeo and unpacked by umoci."""

from __future__ import annotations

__all__ = ["Pulled"]

import subprocess
import threading
from pathlib import Path

from e2e.servers.containers import Container, Fate
from e2e.servers.olm_v0 import copied, copying


class Pulled:
    """The behaviour of bundle and catalog images of a registry that speaks plain HTTP."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._roots: dict[str, Path] = {}
        self._lock = threading.Lock()

    def __call__(self, container: Container) -> Fate:
        root = self.root(container.image)
        program = container.arguments[0]
        return copied(root, container) if program.endswith("/cpb") else copying(root, container)

    def root(self, image: str) -> Path:
        """The files of an image, from its root."""
        with self._lock:
            if image not in self._roots:
                self._roots[image] = self._unpacked(image, self._folder / str(len(self._roots)))
            return self._roots[image]

    def _unpacked(self, image: str, folder: Path) -> Path:
        folder.mkdir(parents=True)
        layout = f"{folder / 'layout'}:pulled"
        copy = ("skopeo", "copy", "--src-tls-verify=false", f"docker://{image}", f"oci:{layout}")
        unpack = ("umoci", "unpack", "--rootless", "--image", layout, str(folder / "bundle"))
        for command in (copy, unpack):
            subprocess.run(command, check=True, capture_output=True, timeout=300)
        return folder / "bundle" / "rootfs"
