"""Bundle folders and templates for tests of rendering, and what opm refuses in them.

Every refusal has the words by which opm's message is known; a conformance test puts each to opm.
"""

from __future__ import annotations

__all__ = [
    "BUNDLE_REFUSALS",
    "TEMPLATE_REFUSALS",
    "BundleRefusal",
    "TemplateRefusal",
    "blob",
    "bundle_files",
    "rendering",
    "semver",
    "template",
]

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from everpath.model import Place
from everpath.opm_render import Blob, Refusal, RenderedBundle
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
    """The files of a bundle with one CRD. `spec` goes into the CSV's, metadata into files of its own."""
    body = csv if csv is not None else {**_CSV, "spec": {**_CSV["spec"], **spec}}
    given = {f"{_PREFIX}package.v1": "op", f"{_PREFIX}channels.v1": "stable"}
    files = {
        "manifests/op.clusterserviceversion.yaml": _yaml(body),
        "metadata/annotations.yaml": _yaml({"annotations": given if annotations is None else annotations}),
    }
    if crd is not None:
        files["manifests/kinds.yaml"] = _yaml(crd)
    for name, value in (metadata or {}).items():
        files[f"metadata/{name}.yaml"] = _yaml({name: value})
    return files


def _yaml(value: object) -> str:
    """JSON behind a comment is YAML to everybody."""
    return f"# as YAML\n{json.dumps(value, indent=1)}\n"


def blob(version: str, *, package: str = "op", name: str | None = None, **more: Any) -> Blob:
    """A bundle in a catalog, under the image `op:VERSION`."""
    stated = {"packageName": package, "version": version}
    return {
        "schema": "olm.bundle",
        "name": name or f"op.v{version}",
        "package": package,
        "image": f"op:{version}",
        "properties": [{"type": "olm.package", "value": stated}],
        **more,
    }


def rendering(*blobs: Mapping[str, Any]) -> Callable[[str], RenderedBundle]:
    """What gives these bundles by their images, and no other."""
    by_image = {b["image"]: b for b in blobs}

    def render(image: str) -> RenderedBundle:
        if image not in by_image:
            raise Refusal(f"no image {image}")
        made = decode_blob(CatalogDocument(Place("bundle.yaml"), by_image[image]))
        return RenderedBundle(made, embedded_csv(made))

    return render


def template(body: Mapping[str, Any]) -> CatalogDocument:
    """A template that stands in a file."""
    return CatalogDocument(Place("template.yaml"), body)


def semver(*, stable: Sequence[str] = (), **more: Any) -> dict[str, Any]:
    """A semver template whose stable bundles have these versions; the other archetypes likewise."""
    body: dict[str, Any] = {"schema": "olm.semver"}
    for key, value in {"stable": stable, **more}.items():
        is_archetype = key in ("stable", "fast", "candidate")
        body[key] = {"bundles": [{"image": f"op:{v}"} for v in value]} if is_archetype else value
    return body


class BundleRefusal(NamedTuple):
    """The files of a bundle, words of opm's refusal, and of ours with the way to what is refused."""

    files: Mapping[str, str]
    opm: str
    ours: str
    pointer: tuple[str | int, ...] = ()


def _owning(*owned: Any) -> dict[str, str]:
    return bundle_files(customresourcedefinitions={"owned": list(owned)})


_DEPLOYMENT: Final = {"name": "op", "spec": {"template": {"spec": {"containers": [{"image": 5}]}}}}

BUNDLE_REFUSALS: Final[Mapping[str, BundleRefusal]] = {
    "no manifest": BundleRefusal(
        {**bundle_files(csv={}, crd=None), "manifests/README.md": "hello"},
        "no bundle objects found",
        "no file of the bundle is a manifest",
    ),
    "no CSV": BundleRefusal(bundle_files(csv={}), "no csv in bundle", "is a ClusterServiceVersion"),
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
        "the CSV's version is not a string",
        ("spec", "version"),
    ),
    "a release that is a list": BundleRefusal(
        bundle_files(release=[1]),
        "release field must be a string or number",
        "neither a string nor a number",
        ("spec", "release"),
    ),
    "a CRD that is owned and not there": BundleRefusal(
        _owning({"name": "others.example.com", "kind": "Other", "version": "v1"}),
        "couldn't find example.com/v1/Other (others) in bundle",
        "the CSV owns example.com/v1/Other (others)",
        ("spec", "customresourcedefinitions", "owned", 0),
    ),
    "a CRD that is owned in another version": BundleRefusal(
        _owning({"name": "kinds.example.com", "kind": "Kind", "version": "v2"}),
        "couldn't find example.com/v2/Kind (kinds) in bundle",
        "the CSV owns example.com/v2/Kind (kinds)",
        ("spec", "customresourcedefinitions", "owned", 0),
    ),
    "a CRD's name without a group": BundleRefusal(
        _owning({"name": "kinds", "kind": "Kind", "version": "v1"}),
        "couldn't parse plural.group from crd name: kinds",
        "the CRD name 'kinds' is not its plural, a dot and its group",
        ("spec", "customresourcedefinitions", "owned", 0, "name"),
    ),
    "an owned CRD that is null": BundleRefusal(
        _owning(None),
        "nil pointer dereference",
        "an entry of customresourcedefinitions.owned is null",
        ("spec", "customresourcedefinitions", "owned", 0),
    ),
    "a CRD that Kubernetes cannot hold": BundleRefusal(
        bundle_files(crd={**_CRD, "spec": {**_CRD["spec"], "versions": [{"name": "v1", "served": "yes"}]}}),
        "error decoding v1 CRD",
        "spec.versions.0.served must be true or false, not the string 'yes'",
        ("spec", "versions", 0, "served"),
    ),
    "a CRD of another group": BundleRefusal(
        bundle_files(crd={**_CRD, "apiVersion": "example.com/v1"}),
        'is registered for version "example.com/v1"',
        "'example.com/v1' is no API that has a CustomResourceDefinition",
        ("apiVersion",),
    ),
    "a CSV of no group and version": BundleRefusal(
        bundle_files(csv={**_CSV, "apiVersion": "a/b/c"}),
        "no csv in bundle",
        "is a ClusterServiceVersion",
    ),
    "no annotations": BundleRefusal(
        bundle_files(annotations={}), "Could not find annotations file", "says which package and channels"
    ),
    "a provided API that is a string": BundleRefusal(
        bundle_files(metadata={"properties": [{"type": "olm.gvk", "value": "Kind"}]}),
        'parse property[0] of type "olm.gvk"',
        "an olm.gvk does not have the shape opm reads",
        ("properties", 0, "value"),
    ),
    "a required API without a value": BundleRefusal(
        bundle_files(metadata={"dependencies": [{"type": "olm.gvk"}]}),
        "unexpected end of JSON input",
        "an olm.gvk without a value",
        ("dependencies", 0),
    ),
    "a required package whose range is a number": BundleRefusal(
        bundle_files(
            metadata={"dependencies": [{"type": "olm.package", "value": {"packageName": "d", "version": 1}}]}
        ),
        'parse property[0] of type "olm.package"',
        "an olm.package does not have the shape opm reads",
        ("dependencies", 0, "value", "version"),
    ),
    "an image that is a number": BundleRefusal(
        bundle_files(install={"strategy": "deployment", "spec": {"deployments": [_DEPLOYMENT]}}),
        "get related images for bundle",
        "containers.0.image must be a string, not the number 5",
        ("spec", "install", "spec", "deployments", 0, "spec", "template", "spec", "containers", 0, "image"),
    ),
    "related images that are none": BundleRefusal(
        bundle_files(relatedImages=["op:1"]),
        "get related images for bundle",
        "relatedImages cannot be read",
        ("spec", "relatedImages", 0),
    ),
}


class TemplateRefusal(NamedTuple):
    """A template, the bundles there are, words of opm's refusal, and of ours with the way to it."""

    kind: str
    body: Mapping[str, Any]
    opm: str
    ours: str
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
        "has only an image, and this one has package",
        ("entries", 0, "package"),
    ),
    "a bundle of a basic template without an image": TemplateRefusal(
        "basic",
        _basic({"schema": "olm.bundle", "name": "op.v1.0.0"}),
        "unexpected fields present in basic template bundle",
        "a bundle of a basic template without an image",
        ("entries", 0),
    ),
    "an image nobody knows": TemplateRefusal(
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
        "an olm.channel that opm cannot read",
        ("entries", 0, "entries", 0, "skips"),
    ),
    "a semver template without bundles": TemplateRefusal(
        "semver", semver(), "no bundles specified", "the template lists no bundle"
    ),
    "a key that semver templates do not have": TemplateRefusal(
        "semver", semver(stable=["1.0.0"], edge={}), 'unknown field "edge"', "no field 'edge'", ("edge",)
    ),
    "a preference that is not generated": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0"], generateMinorChannels=True, defaultChannelTypePreference="major"),
        "doesn't make sense if not generating major-version channels",
        "major channels are preferred and not generated",
        ("defaultChannelTypePreference",),
    ),
    "a preference that is no kind": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0"], defaultChannelTypePreference="patch"),
        "unknown DefaultChannelTypePreference",
        "'patch' is no kind of channel",
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
        "is of package 'other'",
        ("stable", "bundles", 1),
        (blob("1.0.0"), blob("2.0.0", package="other")),
    ),
    "a version that is none": TemplateRefusal(
        "semver",
        semver(stable=["v1"]),
        'has invalid version "v1"',
        "the version of 'op.vv1' cannot be read",
        ("stable", "bundles", 0),
        (blob("v1"),),
    ),
    "versions that differ in build metadata": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0", "1.0.0+1"]),
        "differ only by build metadata",
        "differ by nothing that orders versions",
        ("stable", "bundles", 1),
        (blob("1.0.0"), blob("1.0.0+1")),
    ),
    "a bundle without its package": TemplateRefusal(
        "semver",
        semver(stable=["1.0.0"]),
        'has multiple "olm.package" properties, expected exactly 1',
        "has no olm.package properties, and one is needed",
        ("stable", "bundles", 0),
        (blob("1.0.0", properties=[]),),
    ),
    "entries that opm does not accept": TemplateRefusal(
        "substitutes",
        _substitutes(entries=_CATALOG[:2]),
        "entries are not valid FBC",
        "the entries are not a catalog opm accepts",
        ("entries",),
    ),
    "a substitute for itself": TemplateRefusal(
        "substitutes",
        _substitutes(("op.v1.0.0", "op.v1.0.0")),
        "substitution name and base cannot be the same",
        "cannot substitute itself",
        ("substitutions", 0),
    ),
    "a base that is not there": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.1", "op.v7")),
        'base bundle "op.v7" does not exist in catalog',
        "no bundle of the entries is called 'op.v7'",
        ("substitutions", 0, "base"),
    ),
    "a base twice": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.1", "op.v1.0.0"), ("op:1.0.0", "op.v1.0.0")),
        'cannot reuse the same substitution base "op.v1.0.0"',
        "'op.v1.0.0' is substituted twice",
        ("substitutions", 1, "base"),
    ),
    "a substitute twice": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.1", "op.v1.0.0"), ("op:1.0.1", "op.v1.0.1")),
        'cannot reuse the same substitution "op:1.0.1"',
        "'op:1.0.1' substitutes 'op.v1.0.0' already",
        ("substitutions", 1, "name"),
    ),
    "a substitute that is no later": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.0", "op.v1.0.0")),
        "is not less than substitute bundle",
        "is no later version or release than",
        ("substitutions", 0),
    ),
    "a substitution without a base": TemplateRefusal(
        "substitutes",
        _substitutes(("op:1.0.1", "")),
        "substitution base cannot be empty",
        "a substitution without a base",
        ("substitutions", 0),
    ),
}
