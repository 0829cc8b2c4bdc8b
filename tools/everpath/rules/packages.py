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

from everpath.graph import PackageGraph
from everpath.model import Catalog, Place, Problem, ProblemKind, UpdateMode
from everpath.rules.bundle_versions import lacks_annotations, sort_by_version
from everpath.rules.findings import Flaw, RelatedPlace, Severity
from everpath.rules.kubernetes_names import label_error
from everpath.rules.registry import catalog_rule, package_rule
from everpath.wording import NameSuggestions, count, join_names, quote_empty

_DEFAULT_KEY: Final = "operators.operatorframework.io.bundle.channel.default.v1"
_FILE: Final = "metadata/annotations.yaml"
_REJECTED: Final = "opm rejects the catalog"


@package_rule("EP101", "package-name", Severity.ERROR)
def package_name(graph: PackageGraph) -> Iterator[Flaw]:
    """The name of a package is a DNS-1123 label: lower-case letters, digits and '-', at most 63 characters.

    opm rejects the catalog otherwise. Cost: one match.
    """
    fault = label_error(graph.name)
    for declaration in graph.package.declarations if fault else ():
        yield Flaw(
            declaration.place.at("name"),
            f"{graph.name!r} is not a valid package name: {fault}"
            if graph.name
            else "the package has no name",
            because=(_REJECTED,),
            fix="use lower-case letters, digits and '-'",
        )


@package_rule("EP102", "duplicate-package", Severity.ERROR)
def duplicate_package(graph: PackageGraph) -> Iterator[Flaw]:
    """A catalog has one olm.package document for each package.

    opm rejects the catalog otherwise. Cost: one pass over the declarations.
    """
    declarations = graph.package.declarations
    for declaration in declarations[1:]:
        yield Flaw(
            declaration.place,
            f"the package {graph.name} is declared {count(len(declarations), 'time')}",
            because=(_REJECTED,),
            fix="keep one olm.package document",
            related=RelatedPlace("it is also declared in", declarations[0].place),
        )


@package_rule("EP103", "no-default-channel", Severity.ERROR)
def no_default_channel(graph: PackageGraph) -> Iterator[Flaw]:
    """A package has a default channel.

    Subscriptions without a channel use it, and opm rejects a catalog without it. If the package is inferred
    from bundles and has only one channel, that one is used. For the folder of a single bundle this is a
    warning, because another release may have the default. Cost: one look-up.
    """
    package = graph.package
    if not package.declarations or package.default_channel or not package.channels:
        return
    if len(graph.by_name) > 1 or package.is_rendered:
        yield Flaw(
            package.place,
            f"the package {quote_empty(graph.name)} has no default channel; "
            f"its channels are {join_names(sorted(graph.by_name))}",
            because=(f"a Subscription without a channel fails; {_REJECTED}",),
            fix=_default_channel_fix(graph),
            severity=Severity.WARNING if package.is_single_bundle else None,
        )


def _default_channel_fix(graph: PackageGraph) -> str:
    """Suggest a channel with the highest release, or with the highest pre-release if there is no release."""
    package = graph.package
    ranked = sorted(sort_by_version(package.bundles), key=lambda pair: not pair[0].is_prerelease)
    with_highest = [c for _, bundle in ranked[-1:] for c in graph.channels_by_entry.get(bundle.name, ())]
    channel = (with_highest or sorted(graph.by_name))[0]
    if package.is_rendered:
        return f"set defaultChannel: {channel} in the olm.package document"
    if package.is_single_bundle:
        return f"set {_DEFAULT_KEY}: {channel} in {_FILE}, unless another release of the package has one"
    return f"set {_DEFAULT_KEY}: {channel} in {_FILE} of the newest release"


@package_rule("EP104", "default-channel-absent", Severity.ERROR)
def default_channel_absent(graph: PackageGraph) -> Iterator[Flaw]:
    """The default channel of a package exists.

    opm rejects the catalog otherwise. Cost: one look-up a declaration.
    """
    for declaration in graph.package.declarations:
        default = declaration.default_channel
        if not default or default in graph.by_name or not graph.by_name:
            continue
        names = sorted(filter(None, graph.by_name))
        meant = NameSuggestions(list(graph.by_name)).suggest(default)
        yield Flaw(
            declaration.place.at("defaultChannel"),
            f"the default channel {default!r} of {graph.name} does not exist",
            because=(f"its channels are {join_names(sorted(graph.by_name))}", _REJECTED),
            fix=f"did you mean {meant}?"
            if meant
            else f"write one of {join_names(names)}"
            if names
            else f"name the channel without a name {default}",
        )


@package_rule("EP105", "no-channels", Severity.ERROR)
def no_channels(graph: PackageGraph) -> Iterator[Flaw]:
    """A package has at least one channel.

    opm rejects the catalog otherwise. Bundles without annotations (EP017) are not reported again.
    Cost: one test a bundle of a package without channels.
    """
    package = graph.package
    unannotated = {bundle.place.file for bundle in package.bundles if lacks_annotations(bundle)}
    if package.channels or not package.declarations or package.place.file in unannotated:
        return
    yield Flaw(
        package.place,
        f"the package {graph.name} has no channel",
        because=(f"nothing can be installed from it; {_REJECTED}",),
        fix="add an olm.channel document; to retire a package, keep its channels and deprecate it in "
        "olm.deprecations"
        if package.is_rendered
        else f"list channels in {package.place.file.rpartition('/')[2]}",
    )


@catalog_rule("EP106", "undeclared-package", Severity.ERROR)
def undeclared_package(catalog: Catalog) -> Iterator[Flaw]:
    """Every channel and bundle belongs to a package that an olm.package document declares.

    opm rejects the catalog otherwise. If a document of the same folder does not parse or has no schema, it
    may be the declaration, and the fix refers to it. Cost: one test a package; one comparison with every name
    for an undeclared one.
    """
    declared = NameSuggestions([p.name for p in catalog.packages if p.declarations])
    unread = {_folder(problem.place) for problem in catalog.problems if _hides_a_document(problem)}
    for package in catalog.packages:
        if package.declarations or not (package.channels or package.bundles):
            continue
        places = [channel.place for channel in package.channels] + [b.place for b in package.bundles]
        names = [f"channel {c.name}" for c in package.channels] + [
            f"bundle {b.name}" for b in package.bundles
        ]
        verb = "belongs" if len(names) == 1 else "belong"
        owner = f"the package {package.name}, which is not declared" if package.name else "no package"
        meant = declared.suggest(package.name) if package.name else None
        yield Flaw(
            package.place.at("package"),
            f"{count(len(names), 'document')} {verb} to {owner}",
            because=(join_names(names), _REJECTED),
            fix=f"did you mean {meant}?"
            if meant
            else "add an olm.package document, or correct the name"
            if unread.isdisjoint(map(_folder, places))
            else "correct the document beside it that cannot be read: it may be the olm.package document",
            package=package.name,
        )


def _folder(place: Place) -> str:
    return place.file.rpartition("/")[0]


def _hides_a_document(problem: Problem) -> bool:
    """Return whether the document with this problem is missing from the model."""
    is_misspelled_schema = problem.kind == ProblemKind.MISSPELLED_KEY and problem.place.pointer == ("schema",)
    return is_misspelled_schema or problem.kind in (
        ProblemKind.UNREADABLE_DOCUMENT,
        ProblemKind.MISSING_SCHEMA,
        ProblemKind.BAD_SEPARATOR,
    )


@package_rule("EP112", "default-channel-inferred", Severity.NOTE)
def default_channel_inferred(graph: PackageGraph) -> Iterator[Flaw]:
    """The bundles of a package have a default channel.

    If none has one and there is only one channel, that one is used. With a second channel the package would
    have no default. Cost: one test a bundle.
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
            f"no bundle of {graph.name} has a default channel; {only}, the only channel, is used",
            because=("with a second channel, opm would reject the package",),
            fix=f"set {_DEFAULT_KEY}: {only} in {_FILE}",
        )


@package_rule("EP113", "default-channel-left-behind", Severity.WARNING)
def default_channel_left_behind(graph: PackageGraph) -> Iterator[Flaw]:
    """The highest version of a package is in its default channel.

    Subscriptions without a channel do not get it. In a rendered catalog this may be intended, for a channel
    of candidates: it is a note, and pre-releases do not count. Cost: one sort of the bundles.
    """
    package, default = graph.package, graph.by_name.get(graph.package.default_channel)
    versions = sort_by_version(package.bundles)
    ranked = [(v, b) for v, b in versions if not (package.is_rendered and v.is_prerelease)]
    if default is None or not ranked:
        return
    version, newest = ranked[-1]
    elsewhere = [c for c in graph.channels_by_entry.get(newest.name, ()) if c != default.name]
    if newest.name in default.entries or not elsewhere:
        return
    modes = {declaration.mode for declaration in package.declarations}
    has_generated_edges = not modes.isdisjoint((UpdateMode.SEMVER, UpdateMode.SEMVER_SKIPPATCH))
    edge = "" if has_generated_edges or default.head is None else f", with replaces: {default.head}"
    yield Flaw(
        newest.place,
        f"Subscriptions without a channel do not get {newest.name}, the highest version: it is not in the "
        f"default channel {default.name}",
        because=(
            f"{version} is only in {join_names(elsewhere)}",
            f"new Subscriptions get {join_names(default.heads) or 'nothing'}",
        ),
        fix=f"if it is for all users, add it to {default.name}{edge}; otherwise waive this finding",
        entry=newest.name,
        severity=Severity.NOTE if package.is_rendered else None,
    )


@package_rule("EP114", "default-channel-changed", Severity.NOTE)
def default_channel_changed(graph: PackageGraph) -> Iterator[Flaw]:
    """All bundles of a package have the same default channel.

    A Subscription keeps the channel that was the default when it was created. Cost: one sort of the bundles.
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
            f"existing Subscriptions do not follow the default channel of {graph.name}, which {bundle.name} "
            f"changed to {csv.default_channel}",
            because=tuple(f"{b.name} changed it from {old} to {c.default_channel}" for b, c, old in changes),
            fix="release to the old channel as well, or ask its users to switch",
            entry=bundle.name,
        )
