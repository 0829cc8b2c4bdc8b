"""Rules for keys of a ClusterServiceVersion that OLM ignores."""

from __future__ import annotations

__all__ = ["ignored_edges", "manifest_range", "misplaced_key", "unknown_key"]

from collections.abc import Iterator, Mapping, Set
from functools import lru_cache
from typing import Final, TypeAlias

from everpath.go_types import STRUCTS
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Csv, Entry, UpdateMode
from everpath.ranges import Range, RangeError
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_rule, package_rule
from everpath.upgrade_path.hops import PathEnd, last_entries
from everpath.versions import underline
from everpath.wording import join_names

#: The only path from which OLM reads each kind of edge.
_EDGE_PATHS: Final[Mapping[str, tuple[str, ...]]] = {
    "skipRange": ("metadata", "annotations", "olm.skipRange"),
    "replaces": ("spec", "replaces"),
    "skips": ("spec", "skips"),
}
#: Misspellings of published CSVs, in lower case, without `olm.`, dashes and underscores.
_SPELLINGS: Final[Mapping[str, str]] = {
    "skiprange": "skipRange",
    "skipsrange": "skipRange",
    "skipranges": "skipRange",
    "skipsranges": "skipRange",
    "replace": "replaces",
    "replaces": "replaces",
    "skip": "skips",
    "skips": "skips",
}
#: The struct has `annotations` too, but OLM reads only those of metadata.
_SPEC_KEYS: Final = STRUCTS["v1alpha1.ClusterServiceVersionSpec"].keys() - {"annotations"}
_METADATA_KEYS: Final = STRUCTS["meta.ObjectMeta"].keys()
#: Fixes for unknown keys that are common.
_KNOWN_FIXES: Final[Mapping[str, str]] = {
    "annotations": "move them to metadata.annotations, which OLM reads",
    "maxKubeVersion": "remove it: OLM has no upper limit; OpenShift has the property olm.maxOpenShiftVersion",
    "crds": "rename it to customresourcedefinitions",
    "com.redhat.openshift.versions": "move it to metadata/annotations.yaml",
}

KeyPath: TypeAlias = tuple[str, ...]


# Cached, because the bundles of a package have the same keys.
@lru_cache(maxsize=4096)
def _misplaced_edges(part: KeyPath, keys: tuple[str, ...]) -> tuple[tuple[KeyPath, str], ...]:
    """Return the paths of keys that OLM ignores although they name a kind of edge, with that kind."""
    paths = [(*part, key) for key in keys]
    return tuple((path, edge) for path in paths if (edge := _intended_edge(path)) is not None)


def _intended_edge(path: KeyPath) -> str | None:
    """Return the kind of edge that a key names, if OLM does not read it from there."""
    normalized = path[-1].lower().removeprefix("olm.").replace("-", "").replace("_", "")
    edge = _SPELLINGS.get(normalized)
    if edge is None or path == _EDGE_PATHS[edge]:
        return None
    # Annotations of other tools may be named `replaces` or `skips`.
    is_foreign = path[1] == "annotations" and edge != "skipRange" and not path[-1].lower().startswith("olm.")
    return None if is_foreign else edge


@bundle_rule("EP431", "misplaced-key", Severity.WARNING)
def misplaced_key(bundle: Bundle) -> Iterator[Flaw]:
    """A CSV has its edges in spec.replaces, spec.skips and the annotation olm.skipRange.

    OLM ignores them anywhere else, or with another spelling or case, and does not upgrade along them. If the
    right key exists, too, it is a note. Cost: one test a key.
    """
    csv = bundle.csv
    if csv is None:
        return
    for path, edge in (
        *_misplaced_edges(("metadata", "annotations"), csv.annotation_keys),
        *_misplaced_edges(("metadata",), csv.metadata_keys),
        *_misplaced_edges(("spec",), csv.spec_keys),
    ):
        right, error = _EDGE_PATHS[edge], _range_error(csv, path)
        has_right_key = right[-1] in (csv.annotation_keys if edge == "skipRange" else csv.spec_keys)
        yield Flaw(
            csv.place.key(*path),
            f"OLM ignores {_path_text(path)} of {bundle.name}",
            because=(
                f"it reads {edge} from {_path_text(right)}{', which is also set' if has_right_key else ''}",
                *(underline(error.text, *error.span, error.reason).splitlines() if error else ()),
            ),
            fix="remove it" if has_right_key else _move_fix(right, error),
            severity=Severity.NOTE if has_right_key else None,
        )


def _range_error(csv: Csv, path: KeyPath) -> RangeError | None:
    """Return the error of a misplaced range that does not parse."""
    text = dict(csv.misplaced_ranges).get(path)
    try:
        if text is not None:
            Range.parse(text)
    except RangeError as error:
        return error
    return None


def _move_fix(right: KeyPath, error: RangeError | None) -> str:
    value = ""
    if error is not None:
        value = f" as {error.fix!r}" if error.fix else " as a range such as '>=1.0.0 <1.2.0'"
    return f"move it to {_path_text(right)}{value}; if the bundle is released, add it to the next release"


def _path_text(path: KeyPath) -> str:
    """Return a path as spec.skips or metadata.annotations[olm.skipRange]."""
    return ".".join(path) if "." not in path[-1] else f"{'.'.join(path[:-1])}[{path[-1]}]"


@bundle_rule("EP432", "unknown-key", Severity.NOTE)
def unknown_key(bundle: Bundle) -> Iterator[Flaw]:
    """A CSV has only known keys, in their exact case.

    The API server prunes unknown keys without a message. OLM v0 ignores case, so that `MinKubeVersion` works
    there; opm and OLM v1 do not. Cost: one test a key.
    """
    if bundle.csv is None:
        return
    for part, keys, known in (
        ("metadata", bundle.csv.metadata_keys, _METADATA_KEYS),
        ("spec", bundle.csv.spec_keys, _SPEC_KEYS),
    ):
        for key in keys:
            if key not in known and _intended_edge((part, key)) is None:
                path = _path_text((part, key))
                exact = next((name for name in known if name.lower() == key.lower()), None)
                if exact is not None:
                    message = f"opm and OLM v1 ignore {path} of {bundle.name}: the key is {exact}"
                    because, fix = "OLM v0 ignores the case of keys", f"write {exact}"
                else:
                    message = f"the API server prunes {path} of {bundle.name}"
                    because, fix = "OLM does not know this key", _unknown_key_fix(part, key, known)
                yield Flaw(bundle.csv.place.key(part, key), message, because=(because,), fix=fix)


def _unknown_key_fix(part: str, key: str, known: Set[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - rarely needed, and slow to import

    if part == "metadata" and ("/" in key or "." in key):
        return "move it to metadata.annotations"
    if key in _SPEC_KEYS:
        return f"move it to spec.{key}"
    if key in _KNOWN_FIXES:
        return _KNOWN_FIXES[key]
    near = get_close_matches(key, sorted(known), n=1, cutoff=0.8)
    return f"did you mean {near[0]}?" if near else "remove it, or move it to metadata.annotations"


@package_rule("EP433", "manifest-range", Severity.ERROR)
def manifest_range(graph: PackageGraph) -> Iterator[Flaw]:
    """The annotation olm.skipRange of a CSV that is in no channel is a valid range.

    OLM ignores a range that does not parse, and opm rejects a catalog with it. EP301 checks the entries of
    channels. Cost: one parse a bundle without a channel.
    """
    for bundle in graph.package.bundles:
        csv = bundle.csv
        if csv is None or not csv.skip_range:
            continue
        ranges = {channel.entries[bundle.name].skip_range for channel in _channels_with(graph, bundle.name)}
        if csv.skip_range in ranges:
            continue  # EP301 checks it
        try:
            Range.parse(csv.skip_range)
        except RangeError as error:
            yield Flaw(
                csv.place.at("skipRange"),
                f"OLM ignores olm.skipRange of {bundle.name}, because it does not parse: {error.reason}",
                because=tuple(underline(error.text, *error.span, error.reason).splitlines()),
                fix=error.hint or "write a range such as '>=1.0.0 <1.2.0'",
                entry=bundle.name,
            )


def _channels_with(graph: PackageGraph, name: str) -> Iterator[ChannelGraph]:
    """Yield the channels with an entry. Of two channels with the same name, only the first counts."""
    channels = (graph.by_name[channel] for channel in graph.channels_by_entry.get(name, ()))
    return (channel for channel in channels if name in channel.entries)


@package_rule("EP434", "ignored-edges", Severity.WARNING)
def ignored_edges(graph: PackageGraph) -> Iterator[Flaw]:
    """In a package with semver-mode, CSVs have no edges that differ from the generated ones.

    semver-mode ignores replaces and skips: OLM still installs a bundle that a CSV skips. Edges that agree
    with the generated ones are a note. The fix suggests replaces-mode only if the edges of the CSVs strand no
    version. Cost: one look-up an edge.
    """
    modes = {declaration.mode for declaration in graph.package.declarations}
    if not modes & {UpdateMode.SEMVER, UpdateMode.SEMVER_SKIPPATCH}:
        return
    with_edges = [(b.name, b.csv) for b in graph.package.bundles if b.csv and (b.csv.replaces or b.csv.skips)]
    compared = [(name, csv, tuple(_contradictions(graph, name, csv))) for name, csv in with_edges]
    alternative = _replaces_mode_fix(graph) if any(differences for _, _, differences in compared) else ""
    for name, csv, differences in compared:
        yield Flaw(
            csv.place.at("replaces" if csv.replaces else "skips"),
            f"the update mode of the package ignores that {name} {_edges_text(csv)}",
            because=differences or ("the generated edges are the same",),
            fix="remove replaces and skips from the CSV" + (alternative if differences else ""),
            entry=name,
            severity=None if differences else Severity.NOTE,
        )


def _replaces_mode_fix(graph: PackageGraph) -> str:
    """Describe how to use the edges of the CSVs. Cost: every channel is resolved again."""
    csvs = {b.name: b.csv for b in graph.package.bundles if b.csv is not None}
    for channel in graph.channels:
        pairs = ((entry, csvs[name]) for name, entry in channel.entries.items() if name in csvs)
        entries = tuple(entry._replace(replaces=csv.replaces, skips=csv.skips) for entry, csv in pairs)
        if not _is_sound(ChannelGraph(channel.channel._replace(entries=entries), channel.package)):
            return "; to use them, add edges to every CSV, and set updateGraph: replaces-mode"
    return ", or set updateGraph: replaces-mode"


def _is_sound(channel: ChannelGraph) -> bool:
    """Return whether opm accepts a channel, and no version is stranded in OLM v0 and v1."""
    hops = (olm_v0.next_hops(channel).next, olm_v1.next_hops(channel))
    ends = [d.end for step in hops for d in last_entries(step, (channel.head,), channel.entries).values()]
    return (
        opm.validate_channel(channel).is_valid and PathEnd.STRANDED not in ends and PathEnd.LOOP not in ends
    )


def _contradictions(graph: PackageGraph, name: str, csv: Csv) -> Iterator[str]:
    """Yield the channels whose generated edges differ from those of a CSV.

    The oldest entry of a channel replaces nothing, even if its CSV replaces an entry of another channel.
    """
    for channel in _channels_with(graph, name):
        entries = channel.entries
        real = entries[name]
        replaces_another = csv.replaces and real.replaces and csv.replaces != real.replaces
        if replaces_another or any(s in entries and s not in real.skips for s in csv.skips):
            yield f"in {channel.name} it {_edges_text(real)}"


def _edges_text(edges: Csv | Entry) -> str:
    parts = [f"replaces {edges.replaces}"] if edges.replaces else []
    parts += [f"skips {join_names(edges.skips)}"] if edges.skips else []
    return " and ".join(parts) or "replaces nothing"
