"""Packages: names, declarations, default channels."""

from __future__ import annotations

__all__ = [
    "default_channel_absent",
    "default_channel_changed",
    "default_channel_inferred",
    "default_channel_left_behind",
    "duplicate_package",
    "no_channels",
    "no_default_channel",
    "package_name",
    "undeclared_package",
]

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog, Package, Place, Problem, UpdateMode
from everpath.rules.bundle_versions import lacks_annotations, sort_by_version
from everpath.rules.dns_names import label_error
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import catalog_rule, package_rule
from everpath.wording import NameSuggestions, display_name, join_names, plural

_DEFAULT_KEY: Final = "operators.operatorframework.io.bundle.channel.default.v1"
_FILE: Final = "metadata/annotations.yaml"


@package_rule("EP101", "package-name", Severity.ERROR)
def package_name(graph: PackageGraph) -> Iterator[Flaw]:
    """The name of a package is a DNS-1123 label: lower-case letters, digits and '-', at most 63.

    opm refuses the catalog, and OLM makes labels and objects of the name. Cost: one look at the name.
    """
    fault = label_error(graph.name)
    for declaration in graph.package.declarations if fault else ():
        yield Flaw(
            declaration.place.at("name"),
            f"{graph.name!r} cannot be the name of a package: {fault}"
            if graph.name
            else "the package has no name",
            because=("opm refuses the catalog",),
            fix="give the package a name of lower-case letters, digits and '-'",
        )


@package_rule("EP102", "duplicate-package", Severity.ERROR)
def duplicate_package(graph: PackageGraph) -> Iterator[Flaw]:
    """A package is declared once in a catalog, in whatever file.

    opm refuses the catalog. Cost: one look at the declarations.
    """
    declarations = graph.package.declarations
    for declaration in declarations[1:]:
        yield Flaw(
            declaration.place,
            f"the package {graph.name} is declared {plural(len(declarations), 'time')}",
            because=(f"it is also declared in {declarations[0].place.file}", "opm refuses the catalog"),
            fix="keep one olm.package document",
            related=declarations[0].place,
        )


def _is_rendered(package: Package) -> bool:
    """Whether a package comes from a file-based catalog, and not from bundles that imply it."""
    return not any(bundle.csv for bundle in package.bundles)


@package_rule("EP103", "no-default-channel", Severity.ERROR)
def no_default_channel(graph: PackageGraph) -> Iterator[Flaw]:
    """A package names its default channel.

    It is what users get who name none. opm refuses a catalog without it; only where bundles imply the
    package, and it has a single channel, is that one taken. Of one bundle's folder it is a warning: another
    release may name it. Cost: one look at the declaration.
    """
    package = graph.package
    if not package.declarations or package.default_channel or not package.channels:
        return
    if len(graph.by_name) > 1 or _is_rendered(package):
        yield Flaw(
            package.place,
            f"the package {display_name(graph.name)} names no default channel; "
            f"it has {join_names(sorted(graph.by_name))}",
            because=("a Subscription that names no channel has nothing to follow; opm refuses the catalog",),
            fix=_default_set(package, _best_channel(graph)),
            severity=Severity.WARNING if package.is_one_release else None,
        )


def _default_set(package: Package, channel: str) -> str:
    """How to set the default channel: by a field of a catalog, or an annotation of a bundle."""
    if _is_rendered(package):
        return f"set defaultChannel: {channel} in the olm.package document"
    return (
        f"set {_DEFAULT_KEY}: {channel} in {_FILE}, unless another release of the package names one"
        if (package.is_one_release)
        else f"set {_DEFAULT_KEY}: {channel} in {_FILE} of the newest release"
    )


def _best_channel(graph: PackageGraph) -> str:
    """A channel with the highest release, or else with the highest pre-release."""
    ranked = sorted(sort_by_version(graph.package.bundles), key=lambda pair: not pair[0].is_prerelease)
    held = [c for _, bundle in ranked[-1:] for c in graph.channels_by_entry.get(bundle.name, ())]
    return (held or sorted(graph.by_name))[0]


@package_rule("EP104", "default-channel-absent", Severity.ERROR)
def default_channel_absent(graph: PackageGraph) -> Iterator[Flaw]:
    """The default channel of a package exists.

    opm makes an empty channel of the name and refuses the catalog because that has no entry.
    Cost: one look-up a declaration.
    """
    for declaration in graph.package.declarations:
        default = declaration.default_channel
        if not default or default in graph.by_name or not graph.by_name:
            continue
        meant = NameSuggestions(list(graph.by_name)).suggest(default)
        yield Flaw(
            declaration.place.at("defaultChannel"),
            f"the default channel {default!r} of {graph.name} does not exist",
            because=(f"the package has {join_names(sorted(graph.by_name))}", "opm refuses the catalog"),
            fix=f"did you mean {meant}?" if meant else _named_default(graph, default),
        )


def _named_default(graph: PackageGraph, default: str) -> str:
    names = sorted(filter(None, graph.by_name))
    return f"name one of {join_names(names)}" if names else f"call the channel without a name {default}"


@package_rule("EP105", "no-channels", Severity.ERROR)
def no_channels(graph: PackageGraph) -> Iterator[Flaw]:
    """A package has at least one channel.

    Nothing in it can be installed, and opm refuses the catalog. Bundles without annotations (EP017) have
    none for a reason that is reported already. Cost: one look at each bundle of a package without channels.
    """
    package = graph.package
    unannotated = {bundle.place.file for bundle in package.bundles if lacks_annotations(bundle)}
    if package.channels or not package.declarations or package.place.file in unannotated:
        return
    yield Flaw(
        package.place,
        f"the package {graph.name} has no channel",
        because=("opm refuses the catalog",),
        fix="add an olm.channel document for it; to retire a package, keep its channels and deprecate it in "
        "olm.deprecations"
        if _is_rendered(package)
        else f"name channels in {package.place.file.rpartition('/')[2]}",
    )


@catalog_rule("EP106", "undeclared-package", Severity.ERROR)
def undeclared_package(catalog: Catalog) -> Iterator[Flaw]:
    """Every channel and bundle belongs to a package that some olm.package document declares.

    opm refuses the catalog. Where a document of the same folder could not be read, or is not understood,
    that may be the declaration, and the fix says so. Cost: one look at each package; a comparison
    of names for those that miss.
    """
    declared = NameSuggestions([p.name for p in catalog.packages if p.declarations])
    torn = {_folder(problem.place) for problem in catalog.problems if _hides_a_document(problem)}
    for package in catalog.packages:
        if package.declarations or not (package.channels or package.bundles):
            continue
        parts = [f"channel {c.name}" for c in package.channels] + [
            f"bundle {b.name}" for b in package.bundles
        ]
        meant = declared.suggest(package.name) if package.name else None
        named = f"the package {package.name}, which nobody declares" if package.name else "no package"
        yield Flaw(
            package.place.at("package"),
            f"{plural(len(parts), 'document')} belong{'s' if len(parts) == 1 else ''} to {named}",
            because=(join_names(parts), "opm refuses the catalog"),
            fix=f"did you mean {meant}?" if meant else _declaration(package, torn),
            package=package.name,
        )


def _declaration(package: Package, torn: set[str]) -> str:
    """How to declare a package. An unreadable document in the folder can be the declaration."""
    if torn.isdisjoint(map(_folder, _places(package))):
        return "add an olm.package document, or correct the name"
    return "fix the unreadable document beside it: it may be the olm.package document"


def _places(package: Package) -> Iterator[Place]:
    yield from (channel.place for channel in package.channels)
    yield from (bundle.place for bundle in package.bundles)


def _folder(place: Place) -> str:
    return place.file.rpartition("/")[0]


def _hides_a_document(problem: Problem) -> bool:
    """Whether a problem can hide a document."""
    has_strange_schema = problem.kind == "misspelled-key" and problem.place.pointer == ("schema",)
    return has_strange_schema or problem.kind in ("unreadable-document", "missing-schema", "bad-separator")


@package_rule("EP112", "default-channel-inferred", Severity.NOTE)
def default_channel_inferred(graph: PackageGraph) -> Iterator[Flaw]:
    """Bundles say which channel is their package's default.

    Where none does and there is one channel, that is taken; a second channel would leave the package without
    a default. Cost: one look at each bundle.
    """
    package = graph.package
    inferred = any(d.inferred for d in package.declarations)
    if (
        inferred
        and len(graph.by_name) == 1
        and not any(b.csv and b.csv.default_channel for b in package.bundles)
    ):
        only = next(iter(graph.by_name))
        yield Flaw(
            package.place,
            f"no bundle of {graph.name} names a default channel; {only}, the only one, is taken",
            because=("with a second channel the package would have no default, and be refused",),
            fix=f"set {_DEFAULT_KEY}: {only} in {_FILE}",
        )


@package_rule("EP113", "default-channel-left-behind", Severity.WARNING)
def default_channel_left_behind(graph: PackageGraph) -> Iterator[Flaw]:
    """The highest version of a package is in its default channel.

    Users who name no channel do not get it. In a rendered catalog this may be meant, for a channel of
    candidates, and is only noted; a pre-release is passed over there. Cost: one sort of the bundles.
    """
    package, default = graph.package, graph.by_name.get(graph.package.default_channel)
    is_rendered = _is_rendered(package)
    ranked = [(v, b) for v, b in sort_by_version(package.bundles) if not (is_rendered and v.is_prerelease)]
    if default is None or not ranked:
        return
    version, newest = ranked[-1]
    elsewhere = [c for c in graph.channels_by_entry.get(newest.name, ()) if c != default.name]
    if newest.name in default.entries or not elsewhere:
        return
    yield Flaw(
        newest.place,
        f"{newest.name}, the highest version, is not in the default channel {default.name}",
        because=(f"{version} is only in {join_names(elsewhere)}", f"new users get {_best(default.heads)}"),
        fix=f"if it is for everybody, release it to {default.name} too{_edge_to(default, package)}; if it is "
        "of another line, leave it and waive this",
        entry=newest.name,
        severity=Severity.NOTE if is_rendered else None,
    )


def _edge_to(channel: ChannelGraph, package: Package) -> str:
    """The edge for a new entry of a channel, unless edges are generated from versions."""
    makes_edges = any(
        d.mode in (UpdateMode.SEMVER, UpdateMode.SEMVER_SKIPPATCH) for d in package.declarations
    )
    return "" if makes_edges or channel.head is None else f", with replaces: {channel.head}"


def _best(heads: tuple[str, ...]) -> str:
    return join_names(heads) or "nothing"


@package_rule("EP114", "default-channel-changed", Severity.NOTE)
def default_channel_changed(graph: PackageGraph) -> Iterator[Flaw]:
    """All bundles of a package name the same default channel.

    Users who installed without naming a channel stay in the one that was the default then.
    Cost: one sort of the bundles.
    """
    named = [(b, b.csv) for _, b in sort_by_version(graph.package.bundles) if b.csv and b.csv.default_channel]
    changes = [
        (bundle, after, before.default_channel)
        for (_, before), (bundle, after) in pairwise(named)
        if before.default_channel != after.default_channel
    ]
    if changes:
        bundle, csv, _ = changes[-1]
        yield Flaw(
            (csv.annotations or csv.place).at("defaultChannel"),
            f"the default channel of {graph.name} changed to {csv.default_channel} with {bundle.name}",
            because=tuple(f"{b.name} changed it from {old} to {c.default_channel}" for b, c, old in changes),
            fix="tell users of the old channel to move to the new one",
            entry=bundle.name,
        )
