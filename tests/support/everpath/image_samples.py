"""Sample images and layers for tests, including malicious ones."""

from __future__ import annotations

__all__ = [
    "ANNOTATIONS",
    "BUNDLE",
    "CATALOG",
    "OCI_LAYER",
    "files_in",
    "image_with_layers",
    "special_member",
    "tar_with_files",
    "tar_with_members",
]

import gzip
import io
import tarfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from everpath.oci.blobs import MemoryBlobs
from everpath.oci.configs import CONFIG_MEDIA_TYPE
from everpath.oci.descriptors import MANIFEST_MEDIA_TYPE, Image
from everpath.oci.manifests import canonical_json, encode_manifest

#: A valid catalog.
CATALOG: Final = {
    "acme/catalog.yaml": """\
---
schema: olm.package
name: acme
defaultChannel: stable
---
schema: olm.channel
package: acme
name: stable
entries:
- name: acme.v1.0.0
---
schema: olm.bundle
package: acme
name: acme.v1.0.0
image: registry.example.com/acme-bundle:v1.0.0
properties:
- type: olm.package
  value: {packageName: acme, version: 1.0.0}
""",
}
_KEYS: Final = "operators.operatorframework.io.bundle."
ANNOTATIONS: Final = {
    f"{_KEYS}mediatype.v1": "registry+v1",
    f"{_KEYS}manifests.v1": "manifests/",
    f"{_KEYS}metadata.v1": "metadata/",
    f"{_KEYS}package.v1": "acme",
    f"{_KEYS}channels.v1": "stable",
    f"{_KEYS}channel.default.v1": "stable",
    "com.redhat.openshift.versions": "v4.16",
}
BUNDLE: Final = {
    "manifests/acme.clusterserviceversion.yaml": """\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: acme.v1.0.0
spec:
  version: 1.0.0
""",
    "metadata/annotations.yaml": "annotations:\n"
    + "".join(f"  {key}: {value}\n" for key, value in ANNOTATIONS.items()),
    "tests/scorecard/config.yaml": "kind: Configuration\n",
}

OCI_LAYER: Final = "application/vnd.oci.image.layer.v1.tar"


def image_with_layers(
    *layers: bytes,
    compress: bool = False,
    diff_ids: Sequence[object] = (),
    labels: Mapping[str, str] | None = None,
) -> Image:
    """Return an image of tar archives, with these diff ids and labels in its config."""
    blobs = MemoryBlobs()
    packed = [gzip.compress(layer, mtime=0) if compress else layer for layer in layers]
    descriptors = [blobs.add(OCI_LAYER + ("+gzip" if compress else ""), layer) for layer in packed]
    document = {
        "os": "linux",
        "architecture": "amd64",
        "config": {"Labels": {**(labels or {})}},
        "rootfs": {"type": "layers", "diff_ids": [*diff_ids]},
    }
    config = blobs.add(CONFIG_MEDIA_TYPE, canonical_json(document))
    return Image(blobs.add(MANIFEST_MEDIA_TYPE, encode_manifest(config, descriptors)), blobs)


def tar_with_files(files: Mapping[str, bytes | None]) -> bytes:
    """Return a tar archive of files; the content of a folder is None."""
    members = [_member(name, content) for name, content in files.items()]
    return tar_with_members(members)


def tar_with_members(members: Sequence[tuple[tarfile.TarInfo, bytes]]) -> bytes:
    """Return a tar archive of arbitrary members."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def _member(name: str, content: bytes | None) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    if content is None:
        info.type = tarfile.DIRTYPE
        info.mode = 0o755
    else:
        info.size = len(content)
    return info, content or b""


def special_member(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    """Return a member without content: a link, a device or a pipe."""
    info = tarfile.TarInfo(name)
    info.type = kind
    info.linkname = target
    return info, b""


def files_in(folder: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> dict[str, bytes]:
    """Return the contents of all files below a folder by name."""
    return {str(path.relative_to(folder)): read(path) for path in sorted(folder.rglob("*")) if path.is_file()}
