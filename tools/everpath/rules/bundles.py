"""Rules for bundles of a catalog: entries and bundles match, images, versions."""

from __future__ import annotations

__all__ = [
    "bundle_in_no_channel",
    "bundle_release",
    "bundle_version",
    "duplicate_bundle",
    "duplicate_version",
    "equal_precedence",
    "image_reference",
    "missing_bundle",
    "no_image",
]

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from everpath.go_types import type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES
from everpath.graph import ChannelGraph, PackageGraph
from everpath.manifest_access import Pointer
from everpath.model import Bundle, Entry, Place
from everpath.resolvers import opm
from everpath.rules.bundle_versions import lacks_annotations, sort_by_version
from everpath.rules.findings import Flaw, RelatedPlace, Severity
from everpath.rules.fixes.edits import Advice
from everpath.rules.image_references import corrected_reference, reference_error
from everpath.rules.registry import bundle_rule, channel_rule, package_rule
from everpath.versions import VersionError, parse, parse_or_none, parse_tolerant_or_none, release_error
from everpath.wording import NameSuggestions, join_names

_RELEASE_LIMIT: Final = 20
_NOT_OFFERED: Final = (
    "OLM v0 never installs it",
    "OLM v1 installs it only for a new ClusterExtension without channels",
)


@channel_rule("EP401", "missing-bundle", Severity.ERROR)
def missing_bundle(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every entry of a channel has a bundle of the same name in its package.

    OLM has nothing to install, and opm rejects the catalog. Packages without an olm.package document are not
    checked: EP106 reports them. Cost: one look-up an entry, and a comparison with every name for a missing
    one.
    """
    nearby = NameSuggestions(graph.package.by_name)
    missing = [e for e in graph.entries.values() if graph.bundle(e.name) is None]
    for entry in missing if graph.package.declarations else ():
        meant = nearby.suggest(entry.name, exclude=graph.entries)
        removal = _removal(graph, entry) if len(missing) == 1 and not meant else ""
        yield Flaw(
            entry.place.at("name"),
            f"{entry.name} has no bundle" if entry.name else "an entry has no name",
            because=("OLM has nothing to install; opm rejects the catalog",),
            fix=Advice(f"did you mean {meant}?", (meant,))
            if meant
            else f"add the olm.bundle document{removal}"
            if entry.name
            else "write the name of its bundle",
            entry=entry.name,
        )


def _removal(graph: ChannelGraph, entry: Entry) -> str:
    """Describe how to remove an entry, if opm accepts the channel without it."""
    successors = [name for name in graph.replacers.get(entry.name, ()) if name != entry.name]
    others = {name: e for name, e in graph.entries.items() if e is not entry}
    edit = "remove the entry if it is not installed anywhere"
    if len(successors) == 1:
        successor = others[successors[0]]
        skips = tuple(dict.fromkeys((*successor.skips, entry.name, *entry.skips)))
        others[successor.name] = successor._replace(replaces=entry.replaces, skips=skips)
        edit = (
            f"remove it, and let {successor.name} replace {entry.replaces or 'nothing'} "
            f"and skip {join_names(skips)}"
        )
    left = ChannelGraph(graph.channel._replace(entries=tuple(others.values())), graph.package)
    return f", or {edit}" if others and opm.validate_channel(left).is_valid else ""


@package_rule("EP402", "bundle-in-no-channel", Severity.ERROR)
def bundle_in_no_channel(graph: PackageGraph) -> Iterator[Flaw]:
    """Every bundle is an entry of a channel of its package.

    OLM v0 never installs it otherwise. OLM v1 installs it only for a new ClusterExtension without channels,
    if its version is the highest. opm rejects a catalog with it. Bundles without annotations (EP017) and
    packages without channels (EP105) are not reported. Cost: one look-up a bundle.
    """
    absent = [name for name in graph.channels_by_entry if name not in graph.package.by_name]
    nearby, bundles = NameSuggestions(absent), graph.package.by_name.values()
    needs_annotations = not all(map(lacks_annotations, bundles))  # bundles of a package manifest need none
    for bundle in bundles if graph.package.declarations and graph.channels else ():
        if needs_annotations and lacks_annotations(bundle):
            continue
        if bundle.name not in graph.channels_by_entry:
            meant = nearby.suggest(bundle.name)
            yield Flaw(
                bundle.place,
                f"{bundle.name} is in no channel",
                because=(*_NOT_OFFERED, *(() if bundle.csv else ("opm rejects the catalog",))),
                fix=f"is it the entry {meant}, which has no bundle?" if meant else _entry_fix(graph, bundle),
                entry=bundle.name,
                severity=Severity.WARNING if bundle.csv else None,
            )


def _entry_fix(graph: PackageGraph, bundle: Bundle) -> str:
    """Describe how to add a bundle to a channel so that the channel keeps one head."""
    if lacks_annotations(bundle):
        return "let an entry of its channel replace or skip it; if it was never released, remove it"
    if bundle.csv is not None:
        return "list its channels in metadata/annotations.yaml; if it was never released, remove it"
    channel = graph.by_name.get(graph.package.default_channel) or graph.channels[0]
    head, version = channel.head, parse_tolerant_or_none(bundle.version)
    if head is None:
        return "add it to a channel, with an edge from or to it"
    is_newer = version is not None and head in channel.versions and version > channel.versions[head]
    edge = f"with replaces: {head}" if is_newer else f"and to the skips of {head}"
    return f"add it to a channel, such as {channel.name}, {edge}; if it is not installed anywhere, remove it"


@package_rule("EP403", "duplicate-bundle", Severity.ERROR)
def duplicate_bundle(graph: PackageGraph) -> Iterator[Flaw]:
    """No two bundles of a package have the same name.

    opm rejects the catalog. On a cluster both would be the same object. Cost: one look-up a bundle.
    """
    for bundle in graph.package.bundles:
        first = graph.package.by_name[bundle.name]
        if bundle is not first:
            yield Flaw(
                bundle.place.at("name"),
                f"two bundles of {graph.name} are named {bundle.name}",
                because=("opm rejects the catalog",),
                fix=_rename_fix(first, bundle),
                entry=bundle.name,
                related=RelatedPlace("the first is in", first.place.at("name")),
            )


def _rename_fix(first: Bundle, second: Bundle) -> str:
    """Describe which of two bundles to rename: a folder that is named after another version is a copy."""
    if first.version != second.version:
        return "name each after its version"
    for bundle in (first, second):
        folder = bundle.csv.folder if bundle.csv else None
        if folder and folder not in (bundle.version, f"v{bundle.version}"):
            return f"change name and version of the bundle in the folder {folder}"
    return "if they are the same, remove one; else change name and version of the newer one"


@bundle_rule("EP404", "image-reference", Severity.ERROR)
def image_reference(bundle: Bundle) -> Iterator[Flaw]:
    """Images are valid references: [host/]path[:tag][@digest].

    opm rejects the catalog otherwise. An empty related image is allowed. Cost: one match an image.
    """
    if bundle.image and (fault := reference_error(bundle.image)):
        yield _reference_flaw(bundle, "the image", bundle.image, fault, ("image",))
    for i, (name, image) in enumerate(bundle.related_images):
        if image and (fault := reference_error(image)):
            noun = f"the related image {name}".rstrip()
            yield _reference_flaw(bundle, noun, image, fault, ("relatedImages", i, "image"))


def _reference_flaw(bundle: Bundle, noun: str, image: str, fault: str, steps: Pointer) -> Flaw:
    guess = corrected_reference(image)
    return Flaw(
        bundle.place.at(*steps),
        f"{noun} of {bundle.name} is not a valid reference: {fault}",
        because=(f"{image[:200]!r} cannot be pulled; opm rejects the catalog",),
        fix=f"write {guess}" if guess else "write host/path:tag or host/path@sha256:…",
    )


@bundle_rule("EP405", "no-image", Severity.ERROR)
def no_image(bundle: Bundle) -> Iterator[Flaw]:
    """A bundle in a catalog has an image, or its manifests in olm.bundle.object properties.

    OLM has nothing to unpack otherwise, and opm rejects the catalog. Cost: none.
    """
    if bundle.csv is None and not bundle.image and not bundle.has_objects:
        yield Flaw(
            bundle.place,
            f"{bundle.name} has no image and no manifests",
            because=("OLM has nothing to unpack; opm rejects the catalog",),
            fix="push the bundle image, and set image to its reference",
        )


def _version_place(bundle: Bundle) -> Place:
    """Return the place of a bundle's version."""
    if bundle.csv is not None:
        return bundle.csv.place.at("version")
    for stated in bundle.properties_of("olm.package"):
        return stated.place.at("value", "version")
    return bundle.place


def _has_version_field(bundle: Bundle) -> bool:
    """Return whether there is a version to check. EP421 and EP423 report a missing or invalid property."""
    stated = list(bundle.properties_of("olm.package"))
    return bundle.csv is not None or any(
        not any(type_mismatches(p.value, PROPERTY_TYPES[p.type])) for p in stated
    )


@bundle_rule("EP406", "bundle-version", Severity.ERROR)
def bundle_version(bundle: Bundle) -> Iterator[Flaw]:
    """The version of a bundle is strict SemVer: three numbers, no `v`, no leading zeros.

    opm rejects the catalog otherwise. On a cluster OLM is more tolerant, so that it may have worked there.
    Cost: one parse.
    """
    text = bundle.version or ""
    try:
        parse(text)
    except VersionError as error:
        if _has_version_field(bundle):
            tolerant = parse_tolerant_or_none(text)
            yield Flaw(
                _version_place(bundle),
                f"the version of {bundle.name} is not SemVer: {error.reason}"
                if text
                else f"{bundle.name} has no version",
                because=(
                    *(error.pretty().splitlines() if text else ()),
                    *((f"on a cluster, OLM reads it as {tolerant}",) if tolerant else ()),
                    "opm rejects the catalog",
                ),
                fix=f"write {tolerant}" if tolerant else "write a version such as 1.2.3",
            )


@bundle_rule("EP407", "bundle-release", Severity.ERROR)
def bundle_release(bundle: Bundle) -> Iterator[Flaw]:
    """A release has dot-separated identifiers of at most 20 characters, and the bundle's name ends in it.

    The name must be PACKAGE-vVERSION-RELEASE, and the version must have no build metadata. opm rejects the
    catalog otherwise. Cost: one parse.
    """
    for message, fix in _release_faults(bundle, bundle.release) if bundle.release else ():
        yield Flaw(_version_place(bundle), message, because=("opm rejects the catalog",), fix=fix)


def _release_faults(bundle: Bundle, release: str) -> Iterator[tuple[str, str]]:
    if fault := _release_fault(release):
        yield (
            f"the release {release!r} of {bundle.name} is invalid: {fault}",
            "write a release such as 1 or alpha.1",
        )
        return
    version = parse_or_none(bundle.version)
    if version is None:
        return
    if version.build:
        message = f"{bundle.name} has build metadata ({version}) and a release ({release})"
        yield message, f"remove +{'.'.join(version.build)} from the version"
    normal = f"{bundle.package}-v{version}-{release}"
    if bundle.name != normal:
        yield f"{bundle.name} has release {release}, so its name must be {normal}", f"rename it to {normal}"


def _release_fault(release: str) -> str | None:
    if len(release.encode()) > _RELEASE_LIMIT:
        return f"it has more than {_RELEASE_LIMIT} characters"
    if "+" in release:
        return "it has a '+'"
    return release_error(release)


def _full_version(bundle: Bundle) -> str | None:
    """Return version and release, by which opm distinguishes bundles."""
    if parse_or_none(bundle.version) is None:
        return None
    return f"{bundle.version}-{bundle.release}" if bundle.release else bundle.version


@package_rule("EP408", "duplicate-version", Severity.ERROR)
def duplicate_version(graph: PackageGraph) -> Iterator[Flaw]:
    """No two bundles of a package have the same version, including build metadata and release.

    opm rejects the catalog, because it cannot decide between the two. Cost: one look-up a bundle.
    """
    first: dict[str, Bundle] = {}
    for bundle in graph.package.by_name.values():
        version = _full_version(bundle)
        if version is None or (other := first.setdefault(version, bundle)) is bundle:
            continue
        yield Flaw(
            _version_place(bundle),
            f"{other.name} and {bundle.name} both have version {version}",
            because=(f"the first is in {other.place.file}", "opm rejects the catalog"),
            fix="change the version of one of them",
            entry=bundle.name,
        )


@package_rule("EP409", "equal-precedence", Severity.WARNING)
def equal_precedence(graph: PackageGraph) -> Iterator[Flaw]:
    """No two bundles of a package differ only in build metadata.

    SemVer ranks 1.0.0+1 and 1.0.0+2 equally: every range contains both or neither, and OLM v0 has no order
    between them. OLM v1 orders them by build metadata. Bundles that differ in their release are a note,
    because that is intended. Cost: one sort of the bundles.
    """
    ranked = sort_by_version(graph.package.by_name.values())
    for (version, below), (other, bundle) in pairwise(ranked):
        if version == other and _full_version(below) != _full_version(bundle):
            yield Flaw(
                _version_place(bundle),
                f"OLM v0 cannot order {below.name} and {bundle.name}: {version} and {other} are equal",
                because=(
                    "a range contains both or neither",
                    "OLM v1 orders them by build metadata or release",
                ),
                fix="raise the patch number in the next release; do not change published ones",
                entry=bundle.name,
                severity=Severity.NOTE if below.release or bundle.release else None,
            )
