"""Deprecations: references, messages and deprecated heads."""

from __future__ import annotations

__all__ = [
    "deprecated_head",
    "deprecation_message",
    "deprecation_of_nothing",
    "duplicate_deprecation",
    "prohibited_head",
]

from collections.abc import Iterator, Mapping
from typing import Final

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog, Channel, DeprecationEntry, Package, Place
from everpath.resolvers import olm_v1
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import catalog_rule, channel_rule, package_rule
from everpath.wording import NameSuggestions, join_names

_SCHEMAS: Final = ("olm.package", "olm.channel", "olm.bundle")
_REFUSED: Final = "opm refuses the catalog"


@catalog_rule("EP501", "deprecation-of-nothing", Severity.ERROR)
def deprecation_of_nothing(catalog: Catalog) -> Iterator[Flaw]:
    """Whatever is deprecated exists: the package, and a channel or bundle of that name in it.

    The users it should warn never hear of it, and opm refuses the catalog. Cost: one look-up an entry.
    """
    declared = NameSuggestions([p.name for p in catalog.packages if p.declarations])
    for package in catalog.packages:
        for document in package.deprecations if not package.declarations else ():
            meant = declared.suggest(package.name) if package.name else None
            yield Flaw(
                document.place.at("package"),
                f"deprecations of the package {package.name}, which does not exist"
                if package.name
                else "deprecations that name no package",
                because=(_REFUSED,),
                fix=f"did you mean {meant}?" if meant else "name a package of the catalog",
                package=package.name,
            )
        if package.declarations and package.deprecations:
            channels = {channel.name: channel for channel in package.channels}
            known = {
                "olm.channel": NameSuggestions(sorted(channels)),
                "olm.bundle": NameSuggestions(sorted(package.by_name)),
            }
            for entry in (entry for document in package.deprecations for entry in document.entries):
                yield from _nothing(package, entry, channels, known)


def _nothing(
    package: Package,
    entry: DeprecationEntry,
    channels: Mapping[str, Channel],
    known: Mapping[str, NameSuggestions],
) -> Iterator[Flaw]:
    """Check the reference of an entry."""
    place = entry.place.at("reference", "name")
    if entry.schema not in _SCHEMAS:
        said = f"of the unknown schema {entry.schema!r}" if entry.schema else "of no schema"
        meant = NameSuggestions(_SCHEMAS).suggest(entry.schema) if entry.schema else None
        fix = f"did you mean {meant}?" if meant else f"write one of {join_names(_SCHEMAS)}"
        yield _flaw(package, entry.place.at("reference", "schema"), f"something {said} is deprecated", fix)
    elif entry.schema == "olm.package" and entry.name:
        message = f"the deprecation of package {package.name} has a name, {entry.name}"
        yield _flaw(package, place, message, "remove the name: the document names the package")
    elif entry.schema == "olm.channel" and entry.name not in channels:
        yield _flaw(
            package, place, f"channel {entry.name!r} is deprecated and does not exist", _did(entry, known)
        )
    elif entry.schema == "olm.bundle" and entry.name not in package.by_name:
        yield _flaw(
            package, place, f"bundle {entry.name!r} is deprecated and does not exist", _did(entry, known)
        )


def _did(entry: DeprecationEntry, known: Mapping[str, NameSuggestions]) -> str:
    meant = known[entry.schema].suggest(entry.name)
    return f"did you mean {meant}?" if meant else "remove the entry, or correct the name"


def _flaw(package: Package, place: Place, message: str, fix: str) -> Flaw:
    return Flaw(place, message, because=(_REFUSED,), fix=fix, package=package.name)


@package_rule("EP502", "duplicate-deprecation", Severity.ERROR)
def duplicate_deprecation(graph: PackageGraph) -> Iterator[Flaw]:
    """A package has one olm.deprecations document, and a reference stands in it once.

    Two could give two messages; opm refuses the catalog. Cost: one look-up an entry.
    """
    documents = graph.package.deprecations
    for document in documents[1:]:
        yield Flaw(
            document.place,
            f"the package {graph.name} has {len(documents)} olm.deprecations documents",
            because=(f"the first is in {documents[0].place.file}", _REFUSED),
            fix="join them into one",
        )
    for document in documents:
        seen: set[tuple[str, str]] = set()
        for entry in document.entries:
            reference = (entry.schema, entry.name)
            if reference in seen:
                message = f"{' '.join(reference).strip()} is deprecated twice"
                yield Flaw(entry.place, message, because=(_REFUSED,), fix="keep one of the two")
            seen.add(reference)


@package_rule("EP503", "deprecation-message", Severity.ERROR)
def deprecation_message(graph: PackageGraph) -> Iterator[Flaw]:
    """Every deprecation has a message.

    It is all that users are told; opm refuses the catalog without it. Cost: one look at each entry.
    """
    for document in graph.package.deprecations:
        for entry in document.entries:
            if not entry.message:
                yield Flaw(
                    entry.place.at("message"),
                    f"the deprecation of {entry.name or graph.name} says nothing",
                    because=("users are told the message and nothing else", _REFUSED),
                    fix="say why, and what to use instead",
                )


@channel_rule("EP504", "deprecated-head", Severity.WARNING)
def deprecated_head(graph: ChannelGraph) -> Iterator[Flaw]:
    """The head of a channel is not deprecated, unless the channel or the package is.

    OLM v0 installs it all the same and warns its user at once; v1 prefers anything else that it may install,
    older versions included. Cost: one look-up a head.
    """
    package = graph.package
    if package.deprecations_by_name("olm.package") or graph.name in package.deprecations_by_name(
        "olm.channel"
    ):
        return
    deprecated = package.deprecations_by_name("olm.bundle")
    for head in graph.heads:
        if head in deprecated:
            yield Flaw(
                deprecated[head].place,
                f"the head {head} of {graph.name} is deprecated",
                because=(f"OLM v0 offers it to every user of the channel; {_preferred(graph)}",),
                fix="publish a successor, or deprecate the channel",
                entry=head,
            )


def _preferred(graph: ChannelGraph) -> str:
    """What OLM v1 installs if the head is deprecated."""
    best = olm_v1.new_install(graph)
    if best is None or best in graph.package.deprecations_by_name("olm.bundle"):
        return "so does v1, which finds none that is not deprecated"
    return f"v1 installs {best} instead, which is not deprecated"


@channel_rule("EP505", "prohibited-head", Severity.ERROR, policy="v0")
def prohibited_head(graph: ChannelGraph) -> Iterator[Flaw]:
    """The head of a channel does not have the property olm.deprecated.

    OLM v0 never installs a bundle that has it: new users get the next older entry of the chain, or none,
    and nobody is told why. v1 does not know the property. Cost: one look at each head.
    """
    for head in graph.heads:
        bundle = graph.bundle(head)
        marked = next(bundle.properties_of("olm.deprecated"), None) if bundle else None
        if marked is not None:
            yield Flaw(
                marked.place,
                f"the head {head} of {graph.name} has the property olm.deprecated",
                because=("OLM v0 passes over it: users get an older version, and nobody is told why",),
                fix="held back on purpose: publish a successor that skips it; else: remove the property, and "
                "OLM v0 installs it",
                entry=head,
            )
