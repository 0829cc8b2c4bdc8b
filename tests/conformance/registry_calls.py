"""Every call that makes sense of a catalog, and many that make none."""

from __future__ import annotations

__all__ = ["ABSENT", "calls"]

from collections.abc import Iterator

from everpath.server.index.model import Index
from registries import Ask

#: A name that nothing has; quotes and colours show how errors spell it.
ABSENT = 'no "such"\n\x1b[1mthing é\u200b'

_ACKNOWLEDGED = (("x-acknowledge-experimental", "true"),)


def calls(index: Index) -> Iterator[Ask]:
    """All calls about all that is in a catalog."""
    yield Ask("ListPackages")
    yield Ask("ListBundles")
    for name in (*index.packages, ABSENT, ""):
        yield Ask("GetPackage", {"name": name})
    yield from _about_bundles(index)
    yield from _about_edges(index)
    yield from _about_apis(index)
    yield from _about_customs(index)


def _about_bundles(index: Index) -> Iterator[Ask]:
    for package, channel, step in index.entries():
        yield Ask("GetBundle", {"pkgName": package.name, "channelName": channel.name, "csvName": step.name})
    for package in index.packages.values():
        for name in (*package.channels, ABSENT, ""):
            where = {"pkgName": package.name, "channelName": name}
            yield Ask("GetBundleForChannel", where)
            yield Ask("GetBundle", {**where, "csvName": ABSENT})
            yield Ask("GetBundle", where)
    yield Ask("GetBundleForChannel", {"pkgName": ABSENT, "channelName": ABSENT})
    yield Ask("GetBundle", {"pkgName": ABSENT})


def _about_edges(index: Index) -> Iterator[Ask]:
    names = {name for _, _, step in index.entries() for name in (step.name, step.replaces, *step.skips)}
    for name in sorted({*names, ABSENT, ""}):
        yield Ask("GetChannelEntriesThatReplace", {"csvName": name})
    for package in index.packages.values():
        for channel in package.channels.values():
            where = {"pkgName": package.name, "channelName": channel.name}
            edges = {name for step in channel.entries.values() for name in (step.replaces, *step.skips)}
            for name in sorted({*edges, channel.head, ABSENT}):
                yield Ask("GetBundleThatReplaces", {**where, "csvName": name})
        yield Ask("GetBundleThatReplaces", {"pkgName": package.name, "channelName": ABSENT, "csvName": "x"})
    yield Ask("GetBundleThatReplaces", {"pkgName": ABSENT, "channelName": ABSENT, "csvName": "x"})


def _about_apis(index: Index) -> Iterator[Ask]:
    known = {gvk for _, _, step in index.entries() for gvk in step.provided_apis}
    for group, version, kind in (*sorted(known), (ABSENT, ABSENT, ABSENT), ("", "", "")):
        gvk = {"group": group, "version": version, "kind": kind}
        for method in (
            "GetChannelEntriesThatProvide",
            "GetLatestChannelEntriesThatProvide",
            "GetDefaultBundleThatProvides",
        ):
            yield Ask(method, gvk)
        yield Ask("GetDefaultBundleThatProvides", {**gvk, "plural": "things"})


def _about_customs(index: Index) -> Iterator[Ask]:
    method = "ExperimentalListPackageCustomSchemas"
    keys = {(custom.schema, custom.package) for custom in index.custom_documents}
    for schema, package in sorted({*keys, ("no.such", ""), ("", "p"), ("../etc", ""), ("a", "b/c")}):
        fields = {"schema": schema, "packageName": package}
        yield Ask(method, fields, _ACKNOWLEDGED)
        yield Ask(method, fields)
        yield Ask(method, fields, (("x-acknowledge-experimental", "yes"),))
