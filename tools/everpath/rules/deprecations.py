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
from everpath.model import Catalog, Channel, DeprecationEntry, Package
from everpath.resolvers import olm_v1
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import catalog_rule, channel_rule, package_rule
from everpath.wording import NameSuggestions, join_names

_SCHEMAS: Final = ("olm.package", "olm.channel", "olm.bundle")
_REJECTED: Final = "opm rejects the catalog"


@catalog_rule("EP501", "deprecation-of-nothing", Severity.ERROR)
def deprecation_of_nothing(catalog: Catalog) -> Iterator[Flaw]:
    """Every deprecated package, channel and bundle exists.

    OLM v1 ignores the deprecation otherwise, and opm rejects the catalog. Cost: one look-up an entry.
    """
    declared = NameSuggestions([p.name for p in catalog.packages if p.declarations])
    for package in catalog.packages:
        for document in package.deprecations if not package.declarations else ():
            meant = declared.suggest(package.name) if package.name else None
            yield Flaw(
                document.place.at("package"),
                f"the package {package.name} has deprecations, but does not exist"
                if package.name
                else "an olm.deprecations document has no package",
                because=(_REJECTED,),
                fix=f"did you mean {meant}?" if meant else "write the name of a package of the catalog",
                package=package.name,
            )
        if package.declarations and package.deprecations:
            channels = {channel.name: channel for channel in package.channels}
            known = {
                "olm.channel": NameSuggestions(sorted(channels)),
                "olm.bundle": NameSuggestions(sorted(package.by_name)),
            }
            for entry in (entry for document in package.deprecations for entry in document.entries):
                yield from _reference_flaws(package, entry, channels, known)


def _reference_flaws(
    package: Package,
    entry: DeprecationEntry,
    channels: Mapping[str, Channel],
    known: Mapping[str, NameSuggestions],
) -> Iterator[Flaw]:
    """Yield a flaw if the reference of an entry is invalid."""
    place = entry.place.at("reference", "name")
    if entry.schema not in _SCHEMAS:
        schema = f"the unknown schema {entry.schema!r}" if entry.schema else "no schema"
        meant = NameSuggestions(_SCHEMAS).suggest(entry.schema) if entry.schema else None
        fix = f"did you mean {meant}?" if meant else f"write one of {join_names(_SCHEMAS)}"
        place, message = entry.place.at("reference", "schema"), f"a deprecated reference has {schema}"
    elif entry.schema == "olm.package" and entry.name:
        message = f"the reference to the deprecated package {package.name} has a name, {entry.name}"
        fix = "remove the name: the document has the package"
    elif (entry.schema == "olm.channel" and entry.name not in channels) or (
        entry.schema == "olm.bundle" and entry.name not in package.by_name
    ):
        meant = known[entry.schema].suggest(entry.name)
        message = f"{entry.schema.removeprefix('olm.')} {entry.name!r} is deprecated, but does not exist"
        fix = f"did you mean {meant}?" if meant else "remove the entry, or correct the name"
    else:
        return
    yield Flaw(place, message, because=(_REJECTED,), fix=fix, package=package.name)


@package_rule("EP502", "duplicate-deprecation", Severity.ERROR)
def duplicate_deprecation(graph: PackageGraph) -> Iterator[Flaw]:
    """A package has one olm.deprecations document, and each reference is in it once.

    opm rejects the catalog otherwise. Cost: one look-up an entry.
    """
    documents = graph.package.deprecations
    for document in documents[1:]:
        yield Flaw(
            document.place,
            f"the package {graph.name} has {len(documents)} olm.deprecations documents",
            because=(f"the first is in {documents[0].place.file}", _REJECTED),
            fix="merge them",
        )
    for document in documents:
        seen: set[tuple[str, str]] = set()
        for entry in document.entries:
            reference = (entry.schema, entry.name)
            if reference in seen:
                message = f"{' '.join(reference).strip()} is deprecated twice"
                yield Flaw(entry.place, message, because=(_REJECTED,), fix="keep one of the two")
            seen.add(reference)


@package_rule("EP503", "deprecation-message", Severity.ERROR)
def deprecation_message(graph: PackageGraph) -> Iterator[Flaw]:
    """Every deprecation has a message.

    Users see only the message, and opm rejects the catalog without it. Cost: one test an entry.
    """
    for document in graph.package.deprecations:
        for entry in document.entries:
            if not entry.message:
                yield Flaw(
                    entry.place.at("message"),
                    f"the deprecation of {entry.name or graph.name} has no message",
                    because=("users see only the message", _REJECTED),
                    fix="write why it is deprecated, and what to use instead",
                )


@channel_rule("EP504", "deprecated-head", Severity.WARNING)
def deprecated_head(graph: ChannelGraph) -> Iterator[Flaw]:
    """The head of a channel is not deprecated, unless the channel or the package is.

    OLM v0 installs it, and warns about it. OLM v1 prefers bundles that are not deprecated, even of older
    versions. Cost: one look-up a head.
    """
    package = graph.package
    if package.deprecations_by_name("olm.package") or graph.name in package.deprecations_by_name(
        "olm.channel"
    ):
        return
    deprecated = package.deprecations_by_name("olm.bundle")
    for head in graph.heads:
        if head in deprecated:
            best = olm_v1.new_install(graph)
            yield Flaw(
                deprecated[head].place,
                f"OLM v0 installs {head}, the head of {graph.name}, although it is deprecated",
                because=(
                    "OLM v1 installs it, too: all others are deprecated as well"
                    if best is None or best in deprecated
                    else f"OLM v1 installs {best} instead, which is not deprecated",
                ),
                fix="publish a successor, or deprecate the channel",
                entry=head,
            )


@channel_rule("EP505", "prohibited-head", Severity.ERROR, resolver="v0")
def prohibited_head(graph: ChannelGraph) -> Iterator[Flaw]:
    """The head of a channel does not have the property olm.deprecated.

    OLM v0 never installs a bundle with it: new installations get the next entry of the chain, or none,
    without an error message. OLM v1 ignores the property. Cost: one look-up a head.
    """
    for head in graph.heads:
        bundle = graph.bundle(head)
        marked = next(bundle.properties_of("olm.deprecated"), None) if bundle else None
        if marked is not None:
            yield Flaw(
                marked.place,
                f"OLM v0 never installs {head}, the head of {graph.name}: it has the property olm.deprecated",
                because=("new installations get an older version or none, without an error message",),
                fix="if it is withdrawn, publish a successor that skips it; else remove the property, and "
                "OLM v0 installs it",
                entry=head,
            )
