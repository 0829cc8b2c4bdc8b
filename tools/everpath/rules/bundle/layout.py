"""Folders, annotations and dependencies of a bundle, which opm checks before the manifests."""

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

#: The types of dependencies that opm knows, with their required fields.
_DEPENDENCIES: Final[Mapping[str, tuple[str, ...]]] = {
    "olm.gvk": ("group", "version", "kind"),
    "olm.package": ("packageName", "version"),
    "olm.label": ("label",),
    "olm.constraint": (),
}


@bundle_folder_rule("EP601", "bundle-layout", Severity.ERROR, "opm")
def bundle_layout(bundle: BundleFolder) -> Iterator[Flaw]:
    """A bundle folder contains the folders manifests and metadata.

    opm and operator-sdk neither build nor validate a bundle without them. Cost: none.
    """
    if bundle.missing_folders:
        names = [f"{name}/" for name in bundle.missing_folders]
        yield Flaw(
            bundle.contents.place,
            f"opm rejects the bundle: {bundle.contents.folder} has no {' and no '.join(names)}",
            because=("opm reports: Unable to locate manifests, or metadata, directory",),
            fix=f"move the files of the bundle to {join_names(names)}",
        )


@bundle_folder_rule("EP602", "stray-file", Severity.ERROR, "bundle", "opm")
def stray_file(bundle: BundleFolder) -> Iterator[Flaw]:
    """The folder manifests contains only manifests: no folders and no hidden files.

    operator-framework/api rejects a bundle with either. opm and OLM ignore them, so that a manifest in them
    is never applied. Cost: one test a file name.
    """
    for name in bundle.stray_files:
        kind, file = "folder" if name.endswith("/") else "hidden file", name.rstrip("/")
        yield Flaw(
            Place(file),
            f"operator-sdk rejects the bundle: {file.rpartition('/')[2]} in manifests/ is a {kind}",
            because=("OLM applies nothing from it",),
            fix="move it out of manifests/",
        )


@bundle_folder_rule("EP603", "required-annotation", Severity.ERROR, "opm")
def required_annotation(bundle: BundleFolder) -> Iterator[Flaw]:
    """annotations.yaml has all five required annotations, as strings, and no channel is empty.

    They are media type, manifests, metadata, package and channels. They become the labels of the bundle
    image, which opm and OLM read. Cost: one look-up an annotation.
    """
    place, annotations = bundle.contents.annotations_place, bundle.contents.annotations
    if place is None or annotations is None:
        return
    for key in _REQUIRED:
        if key not in annotations:
            yield Flaw(
                place.key("annotations", key),
                f"opm rejects the bundle: the annotation {key} is missing",
                because=("the bundle image has no such label either",),
                fix=f"add {key}: {_USUAL.get(key, '…')}",
            )
    for key, value in annotations.items():
        if not isinstance(value, str | None):
            message = f"opm rejects the bundle: the annotation {key} is not a string"
            because = ("opm cannot decode the file, and reports that it does not exist",)
            yield Flaw(place.at("annotations", key), message, because, "quote it")
    for key in (_CHANNELS, _DEFAULT):
        if key in annotations and as_string(annotations[key]) == "":
            message = f"opm rejects the bundle: the annotation {key} is empty"
            fix = "list the channels of the bundle" if key == _CHANNELS else "name a channel, or remove it"
            yield Flaw(
                place.at("annotations", key), message, ("opm alpha bundle validate requires a value",), fix
            )


@bundle_folder_rule("EP604", "media-type", Severity.ERROR, "opm")
def media_type(bundle: BundleFolder) -> Iterator[Flaw]:
    """The media type in annotations.yaml is that of the manifests: registry+v1 if there is a CSV.

    OLM unpacks an image according to this label, and opm compares it with the files. Cost: one comparison.
    """
    place, annotations = bundle.contents.annotations_place, bundle.contents.annotations or {}
    if place is None or _MEDIA_TYPE not in annotations or not bundle.contents.manifests:
        return
    stated = as_string(annotations[_MEDIA_TYPE])
    actual = "registry+v1" if bundle.contents.of_kind(CSV) else "plain"
    if stated != actual and isinstance(annotations[_MEDIA_TYPE], str | None):
        yield Flaw(
            place.at("annotations", _MEDIA_TYPE),
            f"opm rejects the bundle: the media type is {stated!r}, but the manifests are {actual}",
            because=(f"opm reports: Expecting annotation to have value {actual!r}",),
            fix=f"write {actual}",
        )


@bundle_folder_rule("EP605", "annotation-folders", Severity.WARNING)
def annotation_folders(bundle: BundleFolder) -> Iterator[Flaw]:
    """The annotations for the folders of manifests and metadata are manifests/ and metadata/.

    They become labels of the image, and OLM unpacks the folders that the labels name. opm does not compare
    them with the files, although its code has a check for it. Cost: two comparisons.
    """
    place, annotations = bundle.contents.annotations_place, bundle.contents.annotations or {}
    for key, folder in _FOLDERS.items():
        stated = as_string(annotations.get(key))
        if place is not None and stated and stated.strip("/") != folder.strip("/"):
            yield Flaw(
                place.at("annotations", key),
                f"OLM does not find the files of the bundle: {key} is {stated}, but they are in {folder}",
                because=("OLM unpacks the folder that this label of the image names",),
                fix=f"write {folder}",
            )


@bundle_folder_rule("EP606", "dependency", Severity.ERROR, "opm")
def dependency(bundle: BundleFolder) -> Iterator[Flaw]:
    """Every dependency has a type that opm knows, all fields of the type, and a valid range or CEL rule.

    opm rejects the bundle. In a catalog that was built by other means, it fails every Subscription of a
    namespace in OLM v0 as soon as it is a candidate. Cost: one parse a dependency.
    """
    for stated in bundle.contents.dependencies:
        for way, message, because, fix in _dependency_faults(stated):
            yield Flaw(stated.place.at(*way), message, because=because, fix=fix)


_Fault = tuple[tuple[str, ...], str, tuple[str, ...], str]


def _dependency_faults(stated: Property) -> Iterator[_Fault]:
    kind, value = stated.type, stated.value
    if kind not in _DEPENDENCIES:
        known = join_names(sorted(_DEPENDENCIES))
        yield (
            ("type",),
            f"opm rejects the bundle: the dependency type {kind!r} is unknown",
            (),
            f"write one of {known}",
        )
        return
    if not isinstance(value, dict):
        yield (
            ("value",),
            f"opm rejects the bundle: the value of {kind} must be a mapping",
            (),
            "write its fields",
        )
        return
    fields = _DEPENDENCIES[kind]
    wrong = [f for f in fields if not isinstance(value_at(value, f), str | None)]
    for name in wrong:
        yield ("value", name), f"opm rejects the bundle: {name} of {kind} must be a string", (), "quote it"
    for name in () if wrong else fields:
        if not value_at(value, name):
            yield ("value",), f"opm rejects the bundle: {kind} has no {name}", (), f"add {name}"
    if kind == "olm.package" and not wrong:
        yield from _range_faults(string_at(value, "version"))
    if kind == "olm.constraint":
        yield from _constraint_faults(value)


def _range_faults(version_range: str) -> Iterator[_Fault]:
    try:
        if version_range:
            Range.parse(version_range)
    except RangeError as error:
        because = tuple(underline(error.text, *error.span, error.reason).splitlines())
        fix = error.hint or "write a range such as '>=1.0.0 <2.0.0'"
        yield (
            ("value", "version"),
            f"opm rejects the bundle: the range {version_range!r} does not parse: {error.reason}",
            because,
            fix,
        )


def _constraint_faults(value: Mapping[str, Any]) -> Iterator[_Fault]:
    """Validate a constraint as opm does: it compiles CEL, and ignores the other kinds."""
    if not isinstance(value_at(value, "failureMessage"), str | None):
        yield (
            ("value", "failureMessage"),
            "opm rejects the bundle: failureMessage must be a string",
            (),
            "quote it",
        )
        return
    cel = value_at(value, "cel")
    if cel is None:
        if not any(value_at(value, kind) for kind in ("gvk", "package", "all", "any", "not")):
            yield (
                ("value",),
                "opm rejects the bundle: the constraint has no kind",
                (),
                "add cel, gvk, package, all, any or not",
            )
        return
    rule = value_at(cel, "rule")
    if not isinstance(rule, str) or not rule:
        yield ("value", "cel"), "opm rejects the bundle: the CEL constraint has no rule", (), "add rule"
        return
    from everpath.rules import cel as _cel  # noqa: PLC0415 - few bundles have CEL rules

    try:
        _cel.check(rule)
    except _cel.CelError as error:
        because = tuple(error.pretty().splitlines())
        yield (
            ("value", "cel", "rule"),
            f"opm rejects the bundle: the CEL rule does not compile: {error.reason}",
            because,
            "correct it",
        )
