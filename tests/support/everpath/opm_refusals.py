"""Small catalogs that `opm validate` rejects although it can load their documents, one for each error.

The numbers are those of olm-semantics §2.1; M is the model phase of §2.2. Chains and skip ranges, which it
checks too, are compared with everpath elsewhere, graph by graph.
"""

from __future__ import annotations

__all__ = ["ACCEPTED", "REFUSALS"]

from collections.abc import Mapping
from typing import Final

from tests.support.everpath.documents import (
    Document,
    bundle,
    channel,
    deprecations,
    package,
    package_property,
)

_P, _C, _B = package(), channel("op.v1.0.0"), bundle()
_NO_IMAGE = {**_B, "image": ""}
_DIGEST = f"registry.example/op@sha256:{'a' * 64}"
_TWO = channel("op.v1.0.0", "op.v1.0.1")
_MANIFEST = {"type": "olm.bundle.object", "value": {"data": "e30="}}


def _stating(*properties: Document, name: str = "op.v1.0.0") -> Document:
    """Return a bundle with exactly these properties."""
    return {**bundle(name), "properties": list(properties)}


def _released(name: str, version: str, release: str) -> tuple[Document, ...]:
    return _P, channel(name), _stating(package_property("op", version, release=release), name=name)


#: An error of opm → the rule that reports it, and a catalog with only this error.
REFUSALS: Final[Mapping[str, tuple[str, tuple[Document, ...]]]] = {
    "P1 a package has a name": ("EP101", (package(""), _P, _C, _B)),
    "P2 a package is declared once": ("EP102", (_P, _P, _C, _B)),
    "P3 a package's name has no capitals": (
        "EP101",
        (package("Op"), channel("op.v1.0.0", package="Op"), bundle(package="Op")),
    ),
    "P3 a package's name has no dot": (
        "EP101",
        (package("o.p"), channel("op.v1.0.0", package="o.p"), bundle(package="o.p")),
    ),
    "P3 a package's name has at most 63 characters": (
        "EP101",
        (package("o" * 64), channel("op.v1.0.0", package="o" * 64), bundle(package="o" * 64)),
    ),
    "P3 a package's name does not end in a dash": (
        "EP101",
        (package("op-"), channel("op.v1.0.0", package="op-"), bundle(package="op-")),
    ),
    "C1 a channel's package is declared": ("EP106", (_P, _C, _B, channel("op.v1.0.0", package="opp"))),
    "C1 a channel names a package": ("EP106", (_P, _C, _B, channel("op.v1.0.0", package=""))),
    "C2 a channel has a name": ("EP107", (_P, _C, _B, channel("op.v1.0.0", name=""))),
    "C3 a channel is described once": ("EP108", (_P, _C, _C, _B)),
    "C4 an entry stands once in a channel": (
        "EP109",
        (_P, channel({"name": "op.v1.0.0"}, {"name": "op.v1.0.0"}), _B),
    ),
    "B1 a bundle names a package": ("EP106", (_P, _C, _B, bundle(package=""))),
    "B1 a bundle's package is declared": ("EP106", (_P, _C, _B, bundle(package="opp"))),
    "B2 a name stands for one bundle": ("EP403", (_P, _C, _B, _B)),
    "B3 olm.package is an object": ("EP423", (_P, _C, _stating({"type": "olm.package", "value": "1.0.0"}))),
    "B3 a version is text": (
        "EP423",
        (_P, _C, _stating({"type": "olm.package", "value": {"packageName": "op", "version": 1}})),
    ),
    "B3 olm.package.required has a text as range": (
        "EP423",
        (_P, _C, bundle("op.v1.0.0", "", {"type": "olm.package.required", "value": {"versionRange": 1}})),
    ),
    "B3 olm.gvk is an object": (
        "EP423",
        (_P, _C, bundle("op.v1.0.0", "", {"type": "olm.gvk", "value": ["a"]})),
    ),
    "B3 olm.gvk.required has a text as kind": (
        "EP423",
        (_P, _C, bundle("op.v1.0.0", "", {"type": "olm.gvk.required", "value": {"kind": True}})),
    ),
    "B3 olm.csv.metadata has texts as annotations": (
        "EP423",
        (_P, _C, bundle("op.v1.0.0", "", {"type": "olm.csv.metadata", "value": {"annotations": {"a": 1}}})),
    ),
    "B3 olm.csv.metadata has truth values in its install modes": (
        "EP423",
        (
            _P,
            _C,
            bundle(
                "op.v1.0.0",
                "",
                {"type": "olm.csv.metadata", "value": {"installModes": [{"supported": "yes"}]}},
            ),
        ),
    ),
    "B3 olm.channel has a number as priority": (
        "EP423",
        (_P, _C, bundle("op.v1.0.0", "", {"type": "olm.channel", "value": {"priority": 1.5}})),
    ),
    "B4 a bundle has an olm.package property": ("EP421", (_P, _C, _stating())),
    "B4 a bundle has one olm.package property": (
        "EP421",
        (_P, _C, bundle("op.v1.0.0", "", package_property())),
    ),
    "B5 the olm.package property names the bundle's package": (
        "EP422",
        (_P, _C, _stating(package_property("po"))),
    ),
    "B6 an image has no capitals": ("EP404", (_P, _C, {**_B, "image": "registry.example/Op:1"})),
    "B6 an image has no scheme": ("EP404", (_P, _C, {**_B, "image": "docker://registry.example/op:1"})),
    "B6 a digest has its length": (
        "EP404",
        (_P, _C, {**_B, "image": "registry.example/op@sha256:" + "a" * 40}),
    ),
    "B6 a digest is one there is": (
        "EP404",
        (_P, _C, {**_B, "image": "registry.example/op@md5:" + "a" * 32}),
    ),
    "B6 an image is no id": ("EP404", (_P, _C, {**_B, "image": "a" * 64})),
    "B6 related images are references": (
        "EP404",
        (_P, _C, {**_B, "relatedImages": [{"name": "a", "image": _DIGEST}, {"name": "b", "image": "a b"}]}),
    ),
    "B7 a version has no v": ("EP406", (_P, _C, bundle("op.v1.0.0", "v1.0.0"))),
    "B7 a version has three numbers": ("EP406", (_P, _C, bundle("op.v1.0.0", "1.0"))),
    "B7 a version has no leading zeros": ("EP406", (_P, _C, bundle("op.v1.0.0", "1.00.0"))),
    "B7 a version is not empty": ("EP406", (_P, _C, _stating(package_property("op", "")))),
    "B7 a version is not left out": (
        "EP406",
        (_P, _C, _stating({"type": "olm.package", "value": {"packageName": "op"}})),
    ),
    "B8 a release has at most 20 characters": (
        "EP407",
        _released(f"op-v1.0.0-{'a' * 21}", "1.0.0", "a" * 21),
    ),
    "B8 a release has no leading zeros": ("EP407", _released("op-v1.0.0-01", "1.0.0", "01")),
    "B8 a release has no empty part": ("EP407", _released("op-v1.0.0-a..b", "1.0.0", "a..b")),
    "B8 a release has no plus": ("EP407", _released("op-v1.0.0-1+2", "1.0.0", "1+2")),
    "M a bundle with a release is named after it": ("EP407", _released("op.v1.0.0-1", "1.0.0", "1")),
    "M a release goes with no build metadata": ("EP407", _released("op-v1.0.0+1-2", "1.0.0+1", "2")),
    "B9 a bundle is in a channel": ("EP402", (_P, _C, _B, bundle("op.v1.0.1"))),
    "E1 an entry has a bundle": ("EP401", (_P, _TWO, _B)),
    "M an entry of another channel has a bundle": (
        "EP401",
        (_P, channel("op.v1.0.0", "op.v1.0.1", name="early"), _C, _B),
    ),
    "D1 deprecations name a package": ("EP501", (_P, _C, _B, deprecations(package=""))),
    "D1 a deprecated package is declared": ("EP501", (_P, _C, _B, deprecations(package="opp"))),
    "D1 a package has one document of deprecations": ("EP502", (_P, _C, _B, deprecations(), deprecations())),
    "D2 a deprecation names a schema": ("EP501", (_P, _C, _B, deprecations(("", "stable", "old")))),
    "D2 a reference is deprecated once": (
        "EP502",
        (_P, _C, _B, deprecations(("olm.channel", "stable", "old"), ("olm.channel", "stable", "older"))),
    ),
    "D3 a deprecated bundle exists": (
        "EP501",
        (_P, _C, _B, deprecations(("olm.bundle", "op.v0.9.0", "old"))),
    ),
    "D3 a deprecated channel exists": ("EP501", (_P, _C, _B, deprecations(("olm.channel", "beta", "old")))),
    "D4 the deprecation of a package has no name": (
        "EP501",
        (_P, _C, _B, deprecations(("olm.package", "op", "old"))),
    ),
    "D4 the schema of a deprecation is known": (
        "EP501",
        (_P, _C, _B, deprecations(("olm.csv", "op", "old"))),
    ),
    "M a deprecated package has a message": ("EP503", (_P, _C, _B, deprecations(("olm.package", "", "")))),
    "M a deprecated channel has a message": (
        "EP503",
        (_P, _C, _B, deprecations(("olm.channel", "stable", ""))),
    ),
    "M a deprecated bundle has a message": (
        "EP503",
        (_P, _C, _B, deprecations(("olm.bundle", "op.v1.0.0", ""))),
    ),
    "M a package names its default channel": ("EP103", (package(default=""), _C, _B)),
    "M the default channel exists": ("EP104", (package(default="beta"), _C, _B)),
    "M a package has a channel": ("EP105", (_P, _C, _B, package("other", ""))),
    "M a channel has entries": ("EP110", (_P, _C, _B, channel(name="beta"))),
    "M two bundles never have one version": (
        "EP408",
        (_P, channel("op.v1.0.0", "op.v1.0.0-again"), _B, bundle("op.v1.0.0-again", "1.0.0")),
    ),
    "M a version with a release is not another's version": (
        "EP408",
        (
            _P,
            channel("op.v1.0.0-1", "op-v1.0.0-1"),
            bundle("op.v1.0.0-1"),
            _stating(package_property(release="1"), name="op-v1.0.0-1"),
        ),
    ),
    "M a bundle has a name": ("EP111", (_P, channel({"name": ""}), {**_B, "name": ""})),
    "M a bundle has an image or manifests": ("EP405", (_P, _C, _NO_IMAGE)),
}

#: Catalogs close to those above that opm accepts.
ACCEPTED: Final[Mapping[str, tuple[Document, ...]]] = {
    "a plain catalog": (_P, _C, _B),
    "a digest": (_P, _C, {**_B, "image": _DIGEST}),
    "a port, a tag and a digest": (_P, _C, {**_B, "image": f"localhost:5000/a/b_c:v1@sha512:{'b' * 128}"}),
    "an image of Docker Hub": (_P, _C, {**_B, "image": "busybox"}),
    "a related image without a reference": (_P, _C, {**_B, "relatedImages": [{"name": "a", "image": ""}]}),
    "manifests instead of an image": (_P, _C, bundle("op.v1.0.0", "", _MANIFEST, image="")),
    "keys in another case": (
        _P,
        _C,
        _stating({"type": "olm.package", "value": {"PackageName": "op", "version": "1.0.0"}}),
    ),
    "a release with its name": _released("op-v1.0.0-alpha.1", "1.0.0", "alpha.1"),
    "build metadata": (_P, channel("op.v1.0.0"), bundle("op.v1.0.0", "1.0.0+1")),
    "two builds of a version": (
        _P,
        channel("op.v1.0.0-1", "op.v1.0.0-2"),
        bundle("op.v1.0.0-1", "1.0.0+1"),
        bundle("op.v1.0.0-2", "1.0.0+2"),
    ),
    "an unknown property": (_P, _C, bundle("op.v1.0.0", "", {"type": "example.com/x", "value": 1})),
    "null fields": (
        _P,
        _C,
        bundle("op.v1.0.0", "", {"type": "olm.gvk", "value": {"group": None, "kind": "A", "version": "v1"}}),
    ),
    "a whole number with a point": (
        _P,
        _C,
        bundle("op.v1.0.0", "", {"type": "olm.channel", "value": {"priority": 2.0}}),
    ),
    "a package name of 63 characters": (
        package("o" * 63),
        channel("op.v1.0.0", package="o" * 63),
        bundle(package="o" * 63),
    ),
    "deprecations": (
        _P,
        _C,
        _B,
        deprecations(
            ("olm.package", "", "a"), ("olm.channel", "stable", "b"), ("olm.bundle", "op.v1.0.0", "c")
        ),
    ),
    "a custom document": (_P, _C, _B, {"schema": "example.com", "package": "op", "name": "x"}),
}
