"""Bundle and catalog images from a registry, pulled with skopeo and unpacked with umoci."""

from __future__ import annotations

__all__ = ["PulledImages"]

import subprocess
import threading
from pathlib import Path

from tests.e2e.servers.containers import Container, Execution
from tests.e2e.servers.olm_v0 import catalog_copy_program, copy_bundle


class PulledImages:
    """An image handler for bundle and catalog images of a registry without TLS."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._roots: dict[str, Path] = {}
        self._lock = threading.Lock()

    def __call__(self, container: Container) -> Execution:
        root = self.root(container.image)
        program = container.arguments[0]
        return (
            copy_bundle(root, container)
            if program.endswith("/cpb")
            else catalog_copy_program(root, container)
        )

    def root(self, image: str) -> Path:
        """Return the folder with the files of an image, pulled on first use."""
        with self._lock:
            if image not in self._roots:
                self._roots[image] = self._pull_and_unpack(image, self._folder / str(len(self._roots)))
            return self._roots[image]

    def _pull_and_unpack(self, image: str, folder: Path) -> Path:
        folder.mkdir(parents=True)
        layout = f"{folder / 'layout'}:pulled"
        copy = ("skopeo", "copy", "--src-tls-verify=false", f"docker://{image}", f"oci:{layout}")
        unpack = ("umoci", "unpack", "--rootless", "--image", layout, str(folder / "bundle"))
        for command in (copy, unpack):
            subprocess.run(command, check=True, capture_output=True, timeout=300)
        return folder / "bundle" / "rootfs"
