"""All calls for the contents of a catalog, and many for unknown names."""

from __future__ import annotations

__all__ = ["ABSENT", "calls"]

from collections.abc import Iterator

from everpath.server.index.model import Index
from tests.support.everpath.registry_api_client import Call

#: An unknown name; its quotes and control characters show how errors escape it.
ABSENT = 'no "such"\n\x1b[1mthing é\u200b'

_ACKNOWLEDGED = (("x-acknowledge-experimental", "true"),)


def calls(index: Index) -> Iterator[Call]:
    """Yield all calls for the contents of a catalog."""
    yield Call("ListPackages")
    yield Call("ListBundles")
    for name in (*index.packages, ABSENT, ""):
        yield Call("GetPackage", {"name": name})
    yield from _about_bundles(index)
    yield from _about_edges(index)
    yield from _about_apis(index)
    yield from _about_customs(index)


def _about_bundles(index: Index) -> Iterator[Call]:
    for package, channel, entry in index.entries():
        yield Call("GetBundle", {"pkgName": package.name, "channelName": channel.name, "csvName": entry.name})
    for package in index.packages.values():
        for name in (*package.channels, ABSENT, ""):
            where = {"pkgName": package.name, "channelName": name}
            yield Call("GetBundleForChannel", where)
            yield Call("GetBundle", {**where, "csvName": ABSENT})
            yield Call("GetBundle", where)
    yield Call("GetBundleForChannel", {"pkgName": ABSENT, "channelName": ABSENT})
    yield Call("GetBundle", {"pkgName": ABSENT})


def _about_edges(index: Index) -> Iterator[Call]:
    names = {name for _, _, entry in index.entries() for name in (entry.name, entry.replaces, *entry.skips)}
    for name in sorted({*names, ABSENT, ""}):
        yield Call("GetChannelEntriesThatReplace", {"csvName": name})
    for package in index.packages.values():
        for channel in package.channels.values():
            where = {"pkgName": package.name, "channelName": channel.name}
            edges = {name for entry in channel.entries.values() for name in (entry.replaces, *entry.skips)}
            for name in sorted({*edges, channel.head, ABSENT}):
                yield Call("GetBundleThatReplaces", {**where, "csvName": name})
        yield Call("GetBundleThatReplaces", {"pkgName": package.name, "channelName": ABSENT, "csvName": "x"})
    yield Call("GetBundleThatReplaces", {"pkgName": ABSENT, "channelName": ABSENT, "csvName": "x"})


def _about_apis(index: Index) -> Iterator[Call]:
    known = {gvk for _, _, entry in index.entries() for gvk in entry.provided_apis}
    for group, version, kind in (*sorted(known), (ABSENT, ABSENT, ABSENT), ("", "", "")):
        gvk = {"group": group, "version": version, "kind": kind}
        for method in (
            "GetChannelEntriesThatProvide",
            "GetLatestChannelEntriesThatProvide",
            "GetDefaultBundleThatProvides",
        ):
            yield Call(method, gvk)
        yield Call("GetDefaultBundleThatProvides", {**gvk, "plural": "things"})


def _about_customs(index: Index) -> Iterator[Call]:
    method = "ExperimentalListPackageCustomSchemas"
    keys = {(custom.schema, custom.package) for custom in index.custom_documents}
    for schema, package in sorted({*keys, ("no.such", ""), ("", "p"), ("../etc", ""), ("a", "b/c")}):
        fields = {"schema": schema, "packageName": package}
        yield Call(method, fields, _ACKNOWLEDGED)
        yield Call(method, fields)
        yield Call(method, fields, (("x-acknowledge-experimental", "yes"),))
