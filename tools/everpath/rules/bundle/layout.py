"""The folders and annotations of a bundle: what opm looks at before it looks into the manifests."""

from __future__ import annotations

__all__ = [
    "annotation_folders",
    "bundle_layout",
    "dependency",
    "media_type",
    "required_annotation",
    "stray_file",
]

from collections.abc import Iterator, Mapping
from typing import Any, Final

from everpath.manifest_access import as_string, string_at, value_at
from everpath.model import Place, Property
from everpath.model.bundle_contents import CSV, BundleFolder
from everpath.ranges import Range, RangeError
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_folder_rule
from everpath.versions import underline
from everpath.wording import join_names

_KEYS: Final = "operators.operatorframework.io.bundle."
_MEDIA_TYPE: Final = f"{_KEYS}mediatype.v1"
_CHANNELS: Final = f"{_KEYS}channels.v1"
_DEFAULT: Final = f"{_KEYS}channel.default.v1"
_FOLDERS: Final = {f"{_KEYS}manifests.v1": "manifests/", f"{_KEYS}metadata.v1": "metadata/"}
_REQUIRED: Final = (_MEDIA_TYPE, *_FOLDERS, f"{_KEYS}package.v1", _CHANNELS)
_USUAL: Final = {_MEDIA_TYPE: "registry+v1", **_FOLDERS}

#: Fields of the dependencies opm knows; a constraint is looked at more closely.
_DEPENDENCIES: Final[Mapping[str, tuple[str, ...]]] = {
    "olm.gvk": ("group", "version", "kind"),
    "olm.package": ("packageName", "version"),
    "olm.label": ("label",),
    "olm.constraint": (),
}


@bundle_folder_rule("EP601", "bundle-layout", Severity.ERROR, "opm")
def bundle_layout(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle's folder holds the folders manifests and metadata.

    opm looks for both by these names, right there, and builds or validates nothing without them; nor does
    operator-sdk. Cost: none.
    """
    if bundle.missing_folders:
        names = [f"{name}/" for name in bundle.missing_folders]
        yield Flaw(
            bundle.contents.place,
            f"there is no {' and no '.join(names)} in {bundle.contents.folder}",
            because=("opm says: Unable to locate manifests, or metadata, directory",),
            fix=f"put the bundle's files into {join_names(names)}",
        )


@bundle_folder_rule("EP602", "stray-file", Severity.ERROR, "bundle", "opm")
def stray_file(bundle: BundleFolder) -> Iterator[Flaw]:
    """The folder manifests holds manifests and nothing else: no folder, no hidden file.

    operator-framework/api refuses to load a bundle with either; opm and OLM pass over them, and a manifest in
    there is never applied. Cost: one look at each name.
    """
    for name in bundle.stray_files:
        kind = "folder" if name.endswith("/") else "hidden file"
        yield Flaw(
            Place(name.rstrip("/")),
            f"manifests/ holds a {kind}: {name.rstrip('/').rpartition('/')[2]}",
            because=("operator-sdk bundle validate refuses the bundle; what is in there is not applied",),
            fix="move it out of manifests/",
        )


@bundle_folder_rule("EP603", "required-annotation", Severity.ERROR, "opm")
def required_annotation(bundle: BundleFolder) -> Iterator[Flaw]:
    """annotations.yaml has all five annotations of a bundle, and no channel of it is an empty name.

    All are texts. Media type, manifests, metadata, package and channels: they become the labels of the
    bundle's image, by which opm and OLM find their way in it. Cost: one look-up each.
    """
    place, annotations = bundle.contents.annotations_place, bundle.contents.annotations
    if place is None or annotations is None:
        return
    for key in _REQUIRED:
        if key not in annotations:
            yield Flaw(
                place.key("annotations", key),
                f"the annotation {key} is missing",
                because=("opm alpha bundle validate refuses the bundle; its image lacks the label",),
                fix=f"add {key}: {_USUAL.get(key, '…')}",
            )
    for key, value in annotations.items():
        if not isinstance(value, str | None):
            because = ("opm cannot decode the file, and says that there is none",)
            yield Flaw(place.at("annotations", key), f"the annotation {key} is no text", because, "quote it")
    for key in (_CHANNELS, _DEFAULT):
        if key in annotations and as_string(annotations[key]) == "":
            what = "names no channel" if key == _CHANNELS else "is empty"
            fix = (
                "name the channels the bundle is for" if key == _CHANNELS else "name a channel, or remove it"
            )
            because = ("opm alpha bundle validate refuses the bundle",)
            yield Flaw(place.at("annotations", key), f"the annotation {key} {what}", because, fix)


@bundle_folder_rule("EP604", "media-type", Severity.ERROR, "opm")
def media_type(bundle: BundleFolder) -> Iterator[Flaw]:
    """The media type that annotations.yaml states is what the manifests are: with a CSV, registry+v1.

    OLM unpacks an image by this label, and opm compares it with what it finds. Cost: one comparison.
    """
    place, annotations = bundle.contents.annotations_place, bundle.contents.annotations or {}
    if place is None or _MEDIA_TYPE not in annotations or not bundle.contents.manifests:
        return
    stated = as_string(annotations[_MEDIA_TYPE])
    actual = "registry+v1" if bundle.contents.of_kind(CSV) else "plain"
    if stated != actual and isinstance(annotations[_MEDIA_TYPE], str | None):
        yield Flaw(
            place.at("annotations", _MEDIA_TYPE),
            f"the media type is {stated!r}, the manifests are {actual}",
            because=(f"opm says: Expecting annotation to have value {actual!r}",),
            fix=f"write {actual}",
        )


@bundle_folder_rule("EP605", "annotation-folders", Severity.WARNING)
def annotation_folders(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotations for the folders of manifests and metadata say manifests/ and metadata/.

    They become labels of the image, and whoever unpacks it looks where they point. opm means to compare them
    and never does. Cost: two comparisons.
    """
    place, annotations = bundle.contents.annotations_place, bundle.contents.annotations or {}
    for key, folder in _FOLDERS.items():
        stated = as_string(annotations.get(key))
        if place is not None and stated and stated.strip("/") != folder.strip("/"):
            yield Flaw(
                place.at("annotations", key),
                f"the annotation {key} points to {stated}, the files are in {folder}",
                because=("OLM unpacks the folder that the label of the image names",),
                fix=f"write {folder}",
            )


@bundle_folder_rule("EP606", "dependency", Severity.ERROR, "opm")
def dependency(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every dependency is of a type that opm knows, with all its fields, a range and CEL that can be read.

    opm refuses the bundle; made into a catalog all the same, OLM v0 fails every Subscription of the namespace
    in which the bundle is a candidate. Cost: one parse a dependency.
    """
    for stated in bundle.contents.dependencies:
        for way, message, because, fix in _dependency_faults(stated):
            yield Flaw(stated.place.at(*way), message, because=because, fix=fix)


_Fault = tuple[tuple[str, ...], str, tuple[str, ...], str]


def _dependency_faults(stated: Property) -> Iterator[_Fault]:
    kind, value = stated.type, stated.value
    if kind not in _DEPENDENCIES:
        known = join_names(sorted(_DEPENDENCIES))
        yield ("type",), f"opm knows no dependency of type {kind!r}", (), f"write one of {known}"
        return
    if not isinstance(value, dict):
        yield ("value",), f"the value of a dependency of type {kind} is an object", (), "write its fields"
        return
    fields = _DEPENDENCIES[kind]
    wrong = [f for f in fields if not isinstance(value_at(value, f), str | None)]
    for name in wrong:
        yield ("value", name), f"{name} of a dependency of type {kind} is a string", (), "quote it"
    for name in () if wrong else fields:
        if not value_at(value, name):
            yield ("value",), f"a dependency of type {kind} has no {name}", (), f"add {name}"
    if kind == "olm.package" and not wrong:
        yield from _range_faults(string_at(value, "version"))
    if kind == "olm.constraint":
        yield from _constraint_faults(value)


def _range_faults(span: str) -> Iterator[_Fault]:
    try:
        if span:
            Range.parse(span)
    except RangeError as error:
        because = tuple(underline(error.text, *error.span, error.reason).splitlines())
        fix = error.hint or "write a range such as '>=1.0.0 <2.0.0'"
        yield ("value", "version"), f"the range {span!r} does not parse: {error.reason}", because, fix


def _constraint_faults(value: Mapping[str, Any]) -> Iterator[_Fault]:
    """opm compiles CEL and passes over the other kinds of constraint."""
    if not isinstance(value_at(value, "failureMessage"), str | None):
        yield ("value", "failureMessage"), "the failureMessage of a constraint is a string", (), "quote it"
        return
    cel = value_at(value, "cel")
    if cel is None:
        if not any(value_at(value, kind) for kind in ("gvk", "package", "all", "any", "not")):
            yield ("value",), "a constraint of no kind", (), "give it cel, gvk, package, all, any or not"
        return
    rule = value_at(cel, "rule")
    if not isinstance(rule, str) or not rule:
        yield ("value", "cel"), "a CEL constraint without a rule", (), "add rule"
        return
    from everpath.rules import cel as _cel  # noqa: PLC0415 - a parser that few bundles need

    try:
        _cel.check(rule)
    except _cel.CelError as error:
        because = tuple(error.pretty().splitlines())
        yield (
            ("value", "cel", "rule"),
            f"the CEL rule does not compile: {error.reason}",
            because,
            "correct it",
        )
