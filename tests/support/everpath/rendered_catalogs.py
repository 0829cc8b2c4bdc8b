"""Bundles and templates for tests of rendering, with those that opm refuses.

A conformance test compares the expected part of each message with opm.
"""

from __future__ import annotations

__all__ = [
    "BUNDLE_REFUSALS",
    "TEMPLATE_REFUSALS",
    "BundleRefusal",
    "TemplateRefusal",
    "blob",
    "bundle_files",
    "image_renderer",
    "semver",
    "template",
]

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from everpath.model import OpmError, Place
from everpath.opm_render import Blob, RenderedBundle
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.bundles import embedded_csv

_PREFIX: Final = "operators.operatorframework.io.bundle."
_CSV: Final[Mapping[str, Any]] = {
    "apiVersion": "operators.coreos.com/v1alpha1",
    "kind": "ClusterServiceVersion",
    "metadata": {"name": "op.v1.0.0"},
    "spec": {"version": "1.0.0"},
}
_CRD: Final[Mapping[str, Any]] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "kinds.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"kind": "Kind", "plural": "kinds"},
        "scope": "Namespaced",
        "versions": [
            {"name": "v1", "served": True, "storage": True},
            {"name": "v1alpha1", "served": False, "storage": False},
        ],
    },
}


def bundle_files(
    *,
    csv: Mapping[str, Any] | None = None,
    crd: Mapping[str, Any] | None = _CRD,
    annotations: Mapping[str, Any] | None = None,
    metadata: Mapping[str, Any] | None = None,
    **spec: Any,
) -> dict[str, str]:
    """The files of a bundle with one CRD. `spec` is added to the CSV; each key of `metadata` is a file."""
    body = csv if csv is not None else {**_CSV, "spec": {**_CSV["spec"], **spec}}
    default_annotations = {f"{_PREFIX}package.v1": "op", f"{_PREFIX}channels.v1": "stable"}
    files = {
        "manifests/op.clusterserviceversion.yaml": _yaml(body),
        "metadata/annotations.yaml": _yaml(
            {"annotations": default_annotations if annotations is None else annotations}
        ),
    }
    if crd is not None:
        files["manifests/kinds.yaml"] = _yaml(crd)
    for name, value in (metadata or {}).items():
        files[f"metadata/{name}.yaml"] = _yaml({name: value})
    return files


def _yaml(value: object) -> str:
    """JSON that begins with a comment, so that it is read as YAML."""
    return f"# as YAML\n{json.dumps(value, indent=1)}\n"


def blob(version: str, *, package: str = "op", name: str | None = None, **more: Any) -> Blob:
    """A bundle in a catalog, under the image `op:VERSION`."""
    value = {"packageName": package, "version": version}
    return {
        "schema": "olm.bundle",
        "name": name or f"op.v{version}",
        "package": package,
        "image": f"op:{version}",
        "properties": [{"type": "olm.package", "value": value}],
        **more,
    }


def image_renderer(*blobs: Mapping[str, Any]) -> Callable[[str], RenderedBundle]:
    """An image renderer that knows these bundles."""
    by_image = {b["image"]: b for b in blobs}

    def render(image: str) -> RenderedBundle:
        if image not in by_image:
            raise OpmError(f"no image {image}")
        rendered = decode_blob(CatalogDocument(Place("bundle.yaml"), by_image[image]))
        return RenderedBundle(rendered, embedded_csv(rendered))

    return render


def template(body: Mapping[str, Any]) -> CatalogDocument:
    """A template in a file."""
    return CatalogDocument(Place("template.yaml"), body)


def semver(*, stable: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """A semver template with bundles of these versions. `more` has other archetypes and keys."""
    body: dict[str, Any] = {"schema": "olm.semver"}
    for key, value in {"stable": stable, **more}.items():
        is_archetype = key in ("stable", "fast", "candidate")
        body[key] = {"bundles": [{"image": f"op:{v}"} for v in value]} if is_archetype else value
    return body


class BundleRefusal(NamedTuple):
    """A bundle that opm refuses: part of opm's message, part of everpath's message, and the place."""

    files: Mapping[str, str]
    opm_message: str
    message: str
    pointer: tuple[str | int, ...] = ()


def _owning(*owned: Any) -> dict[str, str]:
    return bundle_files(customresourcedefinitions={"owned": list(owned)})


_DEPLOYMENT: Final = {"name": "op", "spec": {"template": {"spec": {"containers": [{"image": 5}]}}}}

BUNDLE_REFUSALS: Final[Mapping[str, BundleRefusal]] = {
    "no manifest": BundleRefusal(
        {**bundle_files(csv={}, crd=None), "manifests/README.md": "hello"},
        "no bundle objects found",
        "the bundle has no manifests",
    ),
    "no CSV": BundleRefusal(
        bundle_files(csv={}), "no csv in bundle", "the bundle has no ClusterServiceVersion"
    ),
    "a CSV without a spec": BundleRefusal(
        bundle_files(csv={k: v for k, v in _CSV.items() if k != "spec"}),
        "unexpected end of JSON input",
        "the CSV has no spec",
    ),
    "a CSV whose annotation is a number": BundleRefusal(
        bundle_files(csv={**_CSV, "metadata": {"name": "op.v1.0.0", "annotations": {"a": 5}}}),
        "cannot unmarshal number into Go struct field",
        "metadata.annotations.a must be a string, not the number 5",
        ("metadata", "annotations", "a"),
    ),
    "a version that is a number": BundleRefusal(
        bundle_files(version=1.5),
        "cannot unmarshal number into Go value of type string",
        "the version of the CSV is not a string",
        ("spec", "version"),
    ),
    "a release that is a list": BundleRefusal(
        bundle_files(release=[1]),
        "release field must be a string or number",
        "neither a string nor a number",
        ("spec", "release"),
    ),
    "an owned CRD that is missing": BundleRefusal(
        _owning({"name": "others.example.com", "kind": "Other", "version": "v1"}),
        "couldn't find example.com/v1/Other (others) in bundle",
        "the CSV owns example.com/v1/Other (others)",
        ("spec", "customresourcedefinitions", "owned", 0),
    ),
    "an owned CRD with another version": BundleRefusal(
        _owning({"name": "kinds.example.com", "kind": "Kind", "version": "v2"}),
        "couldn't find example.com/v2/Kind (kinds) in bundle",
        "the CSV owns example.com/v2/Kind (kinds)",
        ("spec", "customresourcedefinitions", "owned", 0),
    ),
    "a CRD name without a group": BundleRefusal(
        _owning({"name": "kinds", "kind": "Kind", "version": "v1"}),
        "couldn't parse plural.group from crd name: kinds",
        "the CRD name 'kinds' is not of the form PLURAL.GROUP",
        ("spec", "customresourcedefinitions", "owned", 0, "name"),
    ),
    "an owned CRD that is null": BundleRefusal(
        _owning(None),
        "nil pointer dereference",
        "an entry of customresourcedefinitions.owned is null",
        ("spec", "customresourcedefinitions", "owned", 0),
    ),
    "a CRD with a value of the wrong type": BundleRefusal(
        bundle_files(crd={**_CRD, "spec": {**_CRD["spec"], "versions": [{"name": "v1", "served": "yes"}]}}),
        "error decoding v1 CRD",
        "spec.versions.0.served must be true or false, not the string 'yes'",
        ("spec", "versions", 0, "served"),
    ),
    "a CRD of another group": BundleRefusal(
        bundle_files(crd={**_CRD, "apiVersion": "example.com/v1"}),
        'is registered for version "example.com/v1"',
        "the API 'example.com/v1' has no kind CustomResourceDefinition",
        ("apiVersion",),
    ),
    "a CSV with an invalid apiVersion": BundleRefusal(
        bundle_files(csv={**_CSV, "apiVersion": "a/b/c"}),
        "no csv in bundle",
        "the bundle has no ClusterServiceVersion",
    ),
    "no annotations": BundleRefusal(
        bundle_files(annotations={}), "Could not find annotations file", "states the package and channels"
    ),
    "a provided API that is a string": BundleRefusal(
        bundle_files(metadata={"properties": [{"type": "olm.gvk", "value": "Kind"}]}),
        'parse property[0] of type "olm.gvk"',
        "invalid value of olm.gvk",
        ("properties", 0, "value"),
    ),
    "a required API without a value": BundleRefusal(
        bundle_files(metadata={"dependencies": [{"type": "olm.gvk"}]}),
        "unexpected end of JSON input",
        "olm.gvk has no value",
        ("dependencies", 0),
    ),
    "a required package whose range is a number": BundleRefusal(
        bundle_files(
            metadata={"dependencies": [{"type": "olm.package", "value": {"packageName": "d", "version": 1}}]}
        ),
        'parse property[0] of type "olm.package"',
        "invalid value of olm.package",
        ("dependencies", 0, "value", "version"),
    ),
    "an image that is a number": BundleRefusal(
        bundle_files(install={"strategy": "deployment", "spec": {"deployments": [_DEPLOYMENT]}}),
        "get related images for bundle",
        "containers.0.image must be a string, not the number 5",
        ("spec", "install", "spec", "deployments", 0, "spec", "template", "spec", "containers", 0, "image"),
    ),
    "related images of the wrong type": BundleRefusal(
        bundle_files(relatedImages=["op:1"]),
        "get related images for bundle",
        "relatedImages of the CSV is invalid",
        ("spec", "relatedImages", 0),
    ),
}


class TemplateRefusal(NamedTuple):
    """A template that opm refuses: part of opm's message, part of everpath's message, and the place."""

    kind: str
    body: Mapping[str, Any]
    opm_message: str
    message: str
    pointer: tuple[str | int, ...] = ()
    bundles: tuple[Blob, ...] = (blob("1.0.0"), blob("1.0.1"))


def _basic(*entries: Any) -> dict[str, Any]:
    return {"schema": "olm.template.basic", "entries": list(entries)}


_CATALOG: Final = (
    {"schema": "olm.package", "name": "op", "defaultChannel": "stable"},
    {"schema": "olm.channel", "name": "stable", "package": "op", "entries": [{"name": "op.v1.0.0"}]},
    blob("1.0.0"),
)


def _substitutes(*pairs: tuple[Any, Any], entries: Sequence[Any] = _CATALOG) -> dict[str, Any]:
    substitutions = [{"name": name, "base": base} for name, base in pairs]
    return {"schema": "olm.template.substitutes", "entries": list(entries), "substitutions": substitutions}


TEMPLATE_REFUSALS: Final[Mapping[str, TemplateRefusal]] = {
    "a bundle of a basic template with properties": TemplateRefusal(
        "basic",
        _basic({"schema": "olm.bundle", "image": "op:1.0.0", "package": "op"}),
        "unexpected fields present in basic template bundle",
        "must have only an image, and this one has package",
        ("entries", 0, "package"),
    ),
    "a bundle of a basic template without an image": TemplateRefusal(
        "basic",
        _basic({"schema": "olm.bundle", "name": "op.v1.0.0"}),
        "unexpected fields present in basic template bundle",
        "a bundle of a basic template has no image",
        ("entries", 0),
    ),
    "an unknown image": TemplateRefusal(
        "basic",
        _basic({"schema": "olm.bundle", "image": "op:7"}),
        'image "op:7" is not among',
        "no image op:7",
        ("entries", 0, "image"),
    ),
    "an entry without a schema": TemplateRefusal(
        "basic", _basic({"name": "op"}), "is missing root schema field", "has no schema", ("entries", 0)
    ),
    "an entry of a wrong type": TemplateRefusal(
        "basic",
        _basic({"schema": "olm.channel", "name": "stable", "package": "op", "entries": [{"skips": "x"}]}),
        "parse channel",
        "invalid olm.channel",
        ("entries", 0, "entries", 0, "skips"),
    ),
    "a semver template without bundles": TemplateRefusal(
        "semver", semver(), "no bundles specified", "the template lists no bundle"
    ),
    "an unknown key of a semver template": TemplateRefusal(
        "semver", semver(stable=["1.0.0"], edge={}), 'unknown field "edge"', "no field 'edge'", ("edge",)
    ),
    "a preference that is not generated": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0"], generateMinorChannels=True, defaultChannelTypePreference="major"),
        "doesn't make sense if not generating major-version channels",
        "major channels are preferred but not generated",
        ("defaultChannelTypePreference",),
    ),
    "an unknown preference": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0"], defaultChannelTypePreference="patch"),
        "unknown DefaultChannelTypePreference",
        "'patch' is not a type of channels",
        ("defaultChannelTypePreference",),
    ),
    "a bundle listed twice": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0", "1.0.0"]),
        'duplicate bundle name "op.v1.0.0"',
        "'op.v1.0.0' is listed twice under stable",
        ("stable", "bundles", 1),
    ),
    "two packages": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0", "2.0.0"]),
        "does not belong to this package",
        "belongs to package 'other'",
        ("stable", "bundles", 1),
        (blob("1.0.0"), blob("2.0.0", package="other")),
    ),
    "an invalid version": TemplateRefusal(
        "semver",
        semver(stable=["v1"]),
        'has invalid version "v1"',
        "invalid version of 'op.vv1'",
        ("stable", "bundles", 0),
        (blob("v1"),),
    ),
    "versions that differ in build metadata": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0", "1.0.0+1"]),
        "differ only by build metadata",
        "has the same precedence as",
        ("stable", "bundles", 1),
        (blob("1.0.0"), blob("1.0.0+1")),
    ),
    "a bundle without an olm.package property": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0"]),
        'has multiple "olm.package" properties, expected exactly 1',
        "has 0 olm.package properties instead of 1",
        ("stable", "bundles", 0),
        (blob("1.0.0", properties=[]),),
    ),
    "entries that opm refuses": TemplateRefusal(
        "substitutes",
        _substitutes(entries=_CATALOG[:2]),
        "entries are not valid FBC",
        "opm rejects the entries",
        ("entries",),
    ),
    "a substitute for itself": TemplateRefusal(
        "substitutes",
        _substitutes(("op.v1.0.0", "op.v1.0.0")),
        "substitution name and base cannot be the same",
        "cannot substitute itself",
        ("substitutions", 0),
    ),
    "an unknown base": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.1", "op.v7")),
        'base bundle "op.v7" does not exist in catalog',
        "the entries have no bundle 'op.v7'",
        ("substitutions", 0, "base"),
    ),
    "a base that is substituted twice": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.1", "op.v1.0.0"), ("op:1.0.0", "op.v1.0.0")),
        'cannot reuse the same substitution base "op.v1.0.0"',
        "'op.v1.0.0' is substituted twice",
        ("substitutions", 1, "base"),
    ),
    "a substitute that is used twice": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.1", "op.v1.0.0"), ("op:1.0.1", "op.v1.0.1")),
        'cannot reuse the same substitution "op:1.0.1"',
        "'op:1.0.1' already substitutes 'op.v1.0.0'",
        ("substitutions", 1, "name"),
    ),
    "a substitute without a higher version": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.0", "op.v1.0.0")),
        "is not less than substitute bundle",
        "are not higher than those of",
        ("substitutions", 0),
    ),
    "a substitution without a base": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.1", "")),
        "substitution base cannot be empty",
        "the substitution has no base",
        ("substitutions", 0),
    ),
}
