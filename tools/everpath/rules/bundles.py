"""Bundles: that they exist, where they are, and what version they are."""

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
from everpath.model import Bundle, Entry, Place
from everpath.resolvers import opm
from everpath.rules.bundle_versions import lacks_annotations, sort_by_version
from everpath.rules.findings import Flaw, Severity
from everpath.rules.image_references import corrected_reference, reference_error
from everpath.rules.registry import bundle_rule, channel_rule, package_rule
from everpath.versions import VersionError, parse, parse_or_none, parse_tolerant_or_none
from everpath.wording import NameSuggestions, join_names

_RELEASE_LIMIT: Final = 20
_UNOFFERED: Final = (
    "OLM v0 offers it to nobody; v1 only to whoever names no channel and has none of the package yet"
)


@channel_rule("EP401", "missing-bundle", Severity.ERROR)
def missing_bundle(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every entry of a channel has a bundle of the same name and package.

    opm refuses the catalog, with a different message for each channel but the last one loaded. Of a package
    that nobody declares only that is reported. Cost: one look-up an entry; one comparison with every name
    for those that miss.
    """
    nearby = NameSuggestions(graph.package.by_name)
    missing = [e for e in graph.entries.values() if graph.bundle(e.name) is None]
    for entry in missing if graph.package.declarations else ():
        meant = nearby.suggest(entry.name, exclude=graph.entries)
        removal = _removal(graph, entry) if len(missing) == 1 and not meant else ""
        yield Flaw(
            entry.place.at("name"),
            f"{entry.name} has no bundle" if entry.name else "an entry has no name",
            because=("there is nothing to install; opm refuses the catalog",),
            fix=f"did you mean {meant}?"
            if meant
            else f"add its olm.bundle document{removal}"
            if entry.name
            else "give it the name of its bundle",
            entry=entry.name,
        )


def _removal(graph: ChannelGraph, entry: Entry) -> str:
    """How to do without an entry, if that leaves a channel that opm accepts: its successor takes over."""
    successors = [name for name in graph.replacers.get(entry.name, ()) if name != entry.name]
    others = {name: e for name, e in graph.entries.items() if e is not entry}
    words = "remove the entry, if nobody has it"
    if len(successors) == 1:
        heir = others[successors[0]]
        skips = tuple(dict.fromkeys((*heir.skips, entry.name, *entry.skips)))
        others[heir.name] = heir._replace(replaces=entry.replaces, skips=skips)
        words = (
            f"let {heir.name} replace {entry.replaces or 'nothing'} and skip {join_names(skips)} in its stead"
        )
    left = ChannelGraph(graph.channel._replace(entries=tuple(others.values())), graph.package)
    return f", or {words}" if others and opm.validate_channel(left).is_valid else ""


@package_rule("EP402", "bundle-in-no-channel", Severity.ERROR)
def bundle_in_no_channel(graph: PackageGraph) -> Iterator[Flaw]:
    """Every bundle is an entry of some channel of its package.

    OLM v0 offers nobody one that is not; v1 installs it for whoever names no channel, if it is the highest
    version. opm refuses a rendered catalog with it. Where the annotations are missing (EP017) only that is
    reported, and so it is where the package has no channel (EP105). Cost: one look-up a bundle.
    """
    absent = [name for name in graph.channels_by_entry if name not in graph.package.by_name]
    nearby, bundles = NameSuggestions(absent), graph.package.by_name.values()
    needs_annotations = not all(map(lacks_annotations, bundles))  # a package file needs none
    for bundle in bundles if graph.package.declarations and graph.channels else ():
        if needs_annotations and lacks_annotations(bundle):
            continue
        if bundle.name not in graph.channels_by_entry:
            meant = nearby.suggest(bundle.name)
            yield Flaw(
                bundle.place,
                f"{bundle.name} is in no channel",
                because=(_UNOFFERED, *(() if bundle.csv else ("opm refuses the catalog",))),
                fix=f"is it the entry {meant}, which has no bundle?" if meant else _way_in(graph, bundle),
                entry=bundle.name,
                severity=Severity.WARNING if bundle.csv else None,
            )


def _way_in(graph: PackageGraph, bundle: Bundle) -> str:
    """How a bundle gets into a channel without becoming its second head."""
    if lacks_annotations(bundle):
        return "let a release of its channel replace or skip it; remove it if it was never released"
    if bundle.csv is not None:
        return "name its channels in metadata/annotations.yaml; remove it if it was never released"
    channel = graph.by_name.get(graph.package.default_channel) or graph.channels[0]
    head, version = channel.head, parse_tolerant_or_none(bundle.version)
    if head is None:
        return "add it to a channel, with an edge from or to it"
    is_newer = version is not None and head in channel.versions and version > channel.versions[head]
    edge = f"with replaces: {head}" if is_newer else f"and to the skips of {head}"
    return f"add it to its channel; to {channel.name}, for example, {edge}; or remove it if nobody has it"


@package_rule("EP403", "duplicate-bundle", Severity.ERROR)
def duplicate_bundle(graph: PackageGraph) -> Iterator[Flaw]:
    """A name stands for one bundle of a package.

    opm refuses the catalog; in a cluster the two would be the same object. Cost: one look-up a bundle.
    """
    for bundle in graph.package.bundles:
        first = graph.package.by_name[bundle.name]
        if bundle is not first:
            yield Flaw(
                bundle.place.at("name"),
                f"two bundles of {graph.name} are called {bundle.name}",
                because=(f"the other is in {first.place.file}", "opm refuses the catalog"),
                fix=_parted(first, bundle),
                entry=bundle.name,
                related=first.place.at("name"),
            )


def _parted(first: Bundle, second: Bundle) -> str:
    """How to tell two bundles of one name apart. A folder named after another version is a copied one."""
    if first.version != second.version:
        return "rename one after its own version"
    for bundle in (first, second):
        folder = bundle.csv.folder if bundle.csv else None
        if folder and folder not in (bundle.version, f"v{bundle.version}"):
            return f"give the bundle in the folder {folder} a name and version of its own"
    return "remove one if they are the same, else give the newer a name and version of its own"


@bundle_rule("EP404", "image-reference", Severity.ERROR)
def image_reference(bundle: Bundle) -> Iterator[Flaw]:
    """Images are references a registry understands: [host/]path[:tag][@digest].

    opm refuses the catalog. An empty related image is allowed. Cost: one match an image.
    """
    if bundle.image and (fault := reference_error(bundle.image)):
        yield _no_reference(bundle, "the image", bundle.image, fault, ("image",))
    for i, (name, image) in enumerate(bundle.related_images):
        if image and (fault := reference_error(image)):
            noun = f"the related image {name}".rstrip()
            yield _no_reference(bundle, noun, image, fault, ("relatedImages", i, "image"))


def _no_reference(bundle: Bundle, noun: str, image: str, fault: str, steps: tuple[str | int, ...]) -> Flaw:
    guess = corrected_reference(image)
    return Flaw(
        bundle.place.at(*steps),
        f"{noun} of {bundle.name} is no reference: {fault}",
        because=(f"{image[:200]!r} cannot be pulled; opm refuses the catalog",),
        fix=f"write {guess}" if guess else "write host/path:tag or host/path@sha256:…",
    )


@bundle_rule("EP405", "no-image", Severity.ERROR)
def no_image(bundle: Bundle) -> Iterator[Flaw]:
    """A bundle in a catalog has an image, or carries its manifests in olm.bundle.object properties.

    OLM has nothing to unpack, and opm refuses the catalog. Cost: none.
    """
    if bundle.csv is None and not bundle.image and not bundle.has_objects:
        yield Flaw(
            bundle.place,
            f"{bundle.name} has neither an image nor manifests",
            because=("OLM has nothing to unpack; opm refuses the catalog",),
            fix="push the bundle, and set image to where it is",
        )


def _version_place(bundle: Bundle) -> Place:
    """Where a bundle says its version."""
    if bundle.csv is not None:
        return bundle.csv.place.at("version")
    for stated in bundle.properties_of("olm.package"):
        return stated.place.at("value", "version")
    return bundle.place


def _states_a_version(bundle: Bundle) -> bool:
    """Whether there is a version to judge: other rules report a property that is absent or misshapen."""
    stated = list(bundle.properties_of("olm.package"))
    return bundle.csv is not None or any(
        not any(type_mismatches(p.value, PROPERTY_TYPES[p.type])) for p in stated
    )


@bundle_rule("EP406", "bundle-version", Severity.ERROR)
def bundle_version(bundle: Bundle) -> Iterator[Flaw]:
    """The version of a bundle is strict SemVer: three numbers, no `v`, no leading zeros.

    opm refuses the catalog. OLM reads versions in a cluster more tolerantly, so that it may even have
    worked there. Cost: one parse.
    """
    text = bundle.version or ""
    try:
        parse(text)
    except VersionError as error:
        if _states_a_version(bundle):
            yield _unreadable_version(bundle, text, error)


def _unreadable_version(bundle: Bundle, text: str, error: VersionError) -> Flaw:
    read = parse_tolerant_or_none(text)
    return Flaw(
        _version_place(bundle),
        f"the version of {bundle.name} is not SemVer: {error.reason}"
        if text
        else f"{bundle.name} has no version",
        because=(
            *(error.pretty().splitlines() if text else ()),
            *((f"in a cluster OLM reads it as {read}",) if read else ()),
            "opm refuses the catalog",
        ),
        fix=f"write {read}" if read else "write a version such as 1.2.3",
    )


@bundle_rule("EP407", "bundle-release", Severity.ERROR)
def bundle_release(bundle: Bundle) -> Iterator[Flaw]:
    """A release is at most 20 characters of dot-separated identifiers, and the bundle's name ends in it.

    The name must be PACKAGE-vVERSION-RELEASE and the version must have no build metadata: opm refuses
    the catalog otherwise. Cost: one parse.
    """
    for message, fix in _release_faults(bundle, bundle.release) if bundle.release else ():
        yield Flaw(_version_place(bundle), message, because=("opm refuses the catalog",), fix=fix)


def _release_faults(bundle: Bundle, release: str) -> Iterator[tuple[str, str]]:
    if fault := _release_fault(release):
        yield f"{release!r} is no release of {bundle.name}: {fault}", "write a release such as 1 or alpha.1"
        return
    version = parse_or_none(bundle.version)
    if version is None:
        return
    if version.build:
        message = f"{bundle.name} has both build metadata ({version}) and a release ({release})"
        yield message, f"drop +{'.'.join(version.build)} from the version"
    normal = f"{bundle.package}-v{version}-{release}"
    if bundle.name != normal:
        yield f"{bundle.name} has release {release}, so its name must be {normal}", f"rename it to {normal}"


def _release_fault(release: str) -> str | None:
    if len(release.encode()) > _RELEASE_LIMIT:
        return f"it has more than {_RELEASE_LIMIT} characters"
    if "+" in release:
        return "it has a '+'"
    try:
        # A release has the grammar of a pre-release.
        parse(f"0.0.0-{release}")
    except VersionError as error:
        return error.reason.replace("pre-release", "release")
    return None


def _full_version(bundle: Bundle) -> str | None:
    """The version by which opm tells bundles apart."""
    if parse_or_none(bundle.version) is None:
        return None
    return f"{bundle.version}-{bundle.release}" if bundle.release else bundle.version


@package_rule("EP408", "duplicate-version", Severity.ERROR)
def duplicate_version(graph: PackageGraph) -> Iterator[Flaw]:
    """Two bundles of a package never have the same version, build metadata and release included.

    opm refuses the catalog: a user who asks for the version could get either. Cost: one look-up a bundle.
    """
    first: dict[str, Bundle] = {}
    for bundle in graph.package.by_name.values():
        version = _full_version(bundle)
        if version is None or (other := first.setdefault(version, bundle)) is bundle:
            continue
        yield Flaw(
            _version_place(bundle),
            f"{other.name} and {bundle.name} both have version {version}",
            because=(f"the first is in {other.place.file}", "opm refuses the catalog"),
            fix="give each bundle a version of its own",
            entry=bundle.name,
        )


@package_rule("EP409", "equal-precedence", Severity.WARNING)
def equal_precedence(graph: PackageGraph) -> Iterator[Flaw]:
    """Two bundles of a package differ in more than build metadata.

    To SemVer 1.0.0+1 and 1.0.0+2 are equal: every range covers both or neither, and OLM v0 has no order
    between them; v1 takes build metadata for a release and orders by it. Bundles that differ in a release
    are made so on purpose, and only noted. Cost: one sort of the bundles.
    """
    ranked = sort_by_version(graph.package.by_name.values())
    for (version, below), (other, bundle) in pairwise(ranked):
        if version == other and _full_version(below) != _full_version(bundle):
            yield Flaw(
                _version_place(bundle),
                f"{below.name} and {bundle.name} have equal versions: {version} and {other}",
                because=(
                    "ranges and OLM v0 cannot tell them apart; v1 orders them by build metadata or release",
                ),
                fix="raise the patch number in the next release; leave what is published",
                entry=bundle.name,
                severity=Severity.NOTE if below.release or bundle.release else None,
            )
