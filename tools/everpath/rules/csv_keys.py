"""Manifests: what a ClusterServiceVersion says where nobody reads it."""

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
from everpath.upgrade_paths.hops import PathEnd, last_entries
from everpath.versions import underline
from everpath.wording import join_names

#: Where each statement about edges is read, and nowhere else.
_HOMES: Final[Mapping[str, tuple[str, ...]]] = {
    "skipRange": ("metadata", "annotations", "olm.skipRange"),
    "replaces": ("spec", "replaces"),
    "skips": ("spec", "skips"),
}
#: Spellings seen in the wild, squeezed: without case, `olm.`, dashes and underscores.
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
#: Keys for which there is more to say than that nobody knows them.
_ADVICE: Final[Mapping[str, str]] = {
    "annotations": "OLM reads metadata.annotations",
    "maxKubeVersion": "OLM knows no upper limit; on OpenShift there is the property olm.maxOpenShiftVersion",
    "crds": "write customresourcedefinitions",
    "com.redhat.openshift.versions": "it belongs in metadata/annotations.yaml",
}


Way: TypeAlias = tuple[str, ...]


# The bundles of a package have the same keys, release after release.
@lru_cache(maxsize=4096)
def _strays(part: Way, keys: tuple[str, ...]) -> tuple[tuple[Way, str], ...]:
    """The keys of a part that state an edge where nobody reads it: the way to each, and the edge."""
    ways = [(*part, key) for key in keys]
    return tuple((way, edge) for way in ways if (edge := _meant(way)) is not None)


def _meant(way: Way) -> str | None:
    """The edge a key was meant to state, if it was, and nobody reads it there."""
    squeezed = way[-1].lower().removeprefix("olm.").replace("-", "").replace("_", "")
    edge = _SPELLINGS.get(squeezed)
    if edge is None or way == _HOMES[edge]:
        return None
    # An annotation may be called anything: only OLM's own are meant for OLM, ranges excepted.
    is_foreign = way[1] == "annotations" and edge != "skipRange" and not way[-1].lower().startswith("olm.")
    return None if is_foreign else edge


@bundle_rule("EP431", "misplaced-key", Severity.WARNING)
def misplaced_key(bundle: Bundle) -> Iterator[Flaw]:
    """A CSV states its edges where they are read: spec.replaces, spec.skips, the annotation olm.skipRange.

    Anywhere else, or in another spelling or case, they are passed over without a word, and the users they
    were meant for are not offered the release. If the right key is there as well the other is only noted.
    Cost: one look at each key.
    """
    csv = bundle.csv
    if csv is None:
        return
    for way, edge in (
        *_strays(("metadata", "annotations"), csv.annotation_keys),
        *_strays(("metadata",), csv.metadata_keys),
        *_strays(("spec",), csv.spec_keys),
    ):
        home, unread = _HOMES[edge], _range_fault(csv, way)
        has_home = home[-1] in (csv.annotation_keys if edge == "skipRange" else csv.spec_keys)
        yield Flaw(
            csv.place.key(*way),
            f"nobody reads {_spelled(way)} of {bundle.name}",
            because=(
                f"{edge} is read from {_spelled(home)}" + (", which is there as well" if has_home else ""),
                *(underline(unread.text, *unread.span, unread.reason).splitlines() if unread else ()),
            ),
            fix="remove it" if has_home else _moved(home, unread),
            severity=Severity.NOTE if has_home else None,
        )


def _range_fault(csv: Csv, way: Way) -> RangeError | None:
    """Why a misplaced range would be none in its place either."""
    text = dict(csv.misplaced_ranges).get(way)
    try:
        if text is not None:
            Range.parse(text)
    except RangeError as error:
        return error
    return None


def _moved(home: Way, unread: RangeError | None) -> str:
    """What to do about an edge that never was one, and perhaps cannot be read."""
    value = ""
    if unread is not None:
        value = f" as {unread.fix!r}" if unread.fix else " as a range such as '>=1.0.0 <1.2.0'"
    return f"before its release move it to {_spelled(home)}{value}; afterwards state it in the next release"


def _spelled(way: Way) -> str:
    """A way to a key, as one would write it: spec.skips, metadata.annotations[olm.skipRange]."""
    return ".".join(way) if "." not in way[-1] else f"{'.'.join(way[:-1])}[{way[-1]}]"


@bundle_rule("EP432", "unknown-key", Severity.NOTE)
def unknown_key(bundle: Bundle) -> Iterator[Flaw]:
    """A CSV has only keys that OLM knows, spelled as OLM spells them.

    The API server drops unknown keys without a word. OLM v0 reads CSVs without regard to case, so that
    `MinKubeVersion` works there; opm and OLM v1 go by the exact name and lose it. Cost: one look at each key.
    """
    if bundle.csv is None:
        return
    for part, keys, known in (
        ("metadata", bundle.csv.metadata_keys, _METADATA_KEYS),
        ("spec", bundle.csv.spec_keys, _SPEC_KEYS),
    ):
        for key in keys:
            if key not in known and _meant((part, key)) is None:
                because, fix = _explained(part, key, known)
                message = f"OLM knows no {_spelled((part, key))} ({bundle.name})"
                yield Flaw(bundle.csv.place.key(part, key), message, because=(because,), fix=fix)


def _explained(part: str, key: str, known: Set[str]) -> tuple[str, str]:
    """What becomes of an unknown key, and what to write instead."""
    from difflib import get_close_matches  # noqa: PLC0415 - only who mistypes pays for it

    exact = next((k for k in known if k.lower() == key.lower()), None)
    if exact is not None:
        return (
            f"OLM v0 takes it for {exact}; opm and OLM v1 go by the exact name and lose it",
            f"write {exact}",
        )
    dropped = "the API server drops it without a word"
    if part == "metadata" and ("/" in key or "." in key):
        return dropped, "move it to metadata.annotations"
    if key in _SPEC_KEYS:
        return dropped, f"move it to spec.{key}"
    if key in _ADVICE:
        return dropped, _ADVICE[key]
    near = get_close_matches(key, sorted(known), n=1, cutoff=0.8)
    if near:
        return dropped, f"did you mean {near[0]}?"
    return dropped, "remove it; what a tool of your own reads belongs in metadata.annotations"


@package_rule("EP433", "manifest-range", Severity.ERROR)
def manifest_range(graph: PackageGraph) -> Iterator[Flaw]:
    """The annotation olm.skipRange of a CSV that is in no channel yet is a range OLM can read.

    OLM ignores one it cannot read as if it were not there, and opm refuses a catalog made of it. Of an entry
    of a channel EP301 says so. Cost: one parse a bundle without a channel.
    """
    for bundle in graph.package.bundles:
        csv = bundle.csv
        if csv is None or not csv.skip_range or _is_carried(graph, bundle.name, csv.skip_range):
            continue
        try:
            Range.parse(csv.skip_range)
        except RangeError as error:
            yield Flaw(
                csv.place.at("skipRange"),
                f"olm.skipRange of {bundle.name} does not parse: {error.reason}",
                because=(
                    *underline(error.text, *error.span, error.reason).splitlines(),
                    "OLM ignores a range it cannot read",
                ),
                fix=error.hint or "write a range such as '>=1.0.0 <1.2.0'",
                entry=bundle.name,
            )


def _is_carried(graph: PackageGraph, name: str, span: str) -> bool:
    """Whether an entry of some channel has a bundle's range, and is judged for it."""
    return any(channel.entries[name].skip_range == span for channel in _holding(graph, name))


def _holding(graph: PackageGraph, name: str) -> Iterator[ChannelGraph]:
    """The channels that hold an entry; of two with one name the first counts, and may not hold it."""
    channels = (graph.by_name[channel] for channel in graph.channels_by_entry.get(name, ()))
    return (channel for channel in channels if name in channel.entries)


@package_rule("EP434", "ignored-edges", Severity.WARNING)
def ignored_edges(graph: PackageGraph) -> Iterator[Flaw]:
    """A package whose edges come from its versions has CSVs that do not state others.

    In semver-mode nobody reads replaces and skips: a release that a CSV skips, because it is bad, is
    offered all the same. A statement that agrees with the real edges is only noted. To let CSVs make the
    edges is advised only where theirs leave nobody behind. Cost: one look-up an edge.
    """
    modes = {declaration.mode for declaration in graph.package.declarations}
    if not modes & {UpdateMode.SEMVER, UpdateMode.SEMVER_SKIPPATCH}:
        return
    stating = [(b.name, b.csv) for b in graph.package.bundles if b.csv and (b.csv.replaces or b.csv.skips)]
    found = [(name, csv, tuple(_contradictions(graph, name, csv))) for name, csv in stating]
    otherwise = _other_mode(graph) if any(against for _, _, against in found) else ""
    for name, csv, against in found:
        yield Flaw(
            csv.place.at("replaces" if csv.replaces else "skips"),
            f"{name} says it {_said(csv)}, which its package's update mode ignores",
            because=against or ("the edges that versions make agree with it",),
            fix="remove replaces and skips from the CSV" + (otherwise if against else ""),
            entry=name,
            severity=None if against else Severity.NOTE,
        )


def _other_mode(graph: PackageGraph) -> str:
    """What replaces-mode would need. Cost: that of judging every channel once more."""
    stated = {b.name: b.csv for b in graph.package.bundles if b.csv is not None}
    if all(_is_sound(_stated(channel, stated)) for channel in graph.channels):
        return ", or set updateGraph: replaces-mode"
    return "; if they are meant, state the edges of every release first, then set updateGraph: replaces-mode"


def _stated(channel: ChannelGraph, csvs: Mapping[str, Csv]) -> ChannelGraph:
    """A channel with the edges its CSVs ask for."""
    pairs = ((entry, csvs[name]) for name, entry in channel.entries.items() if name in csvs)
    entries = (entry._replace(replaces=csv.replaces, skips=csv.skips) for entry, csv in pairs)
    return ChannelGraph(channel.channel._replace(entries=tuple(entries)), channel.package)


def _is_sound(channel: ChannelGraph) -> bool:
    """Whether opm accepts a channel and each generation of OLM moves everybody on."""
    hops = (olm_v0.next_hops(channel).next, olm_v1.next_hops(channel))
    ends = [d.end for step in hops for d in last_entries(step, channel.head, channel.entries).values()]
    return (
        opm.validate_channel(channel).is_valid and PathEnd.STRANDED not in ends and PathEnd.LOOP not in ends
    )


def _contradictions(graph: PackageGraph, name: str, csv: Csv) -> Iterator[str]:
    """Channels whose real edges are others than the CSV states.

    The oldest entry of a channel replaces nothing, whatever its CSV says of another channel.
    """
    for channel in _holding(graph, name):
        entries = channel.entries
        real = entries[name]
        replaces_another = csv.replaces and real.replaces and csv.replaces != real.replaces
        if replaces_another or any(s in entries and s not in real.skips for s in csv.skips):
            yield f"in {channel.name} it {_said(real)}"


def _said(edges: Csv | Entry) -> str:
    said = [f"replaces {edges.replaces}"] if edges.replaces else []
    said += [f"skips {join_names(edges.skips)}"] if edges.skips else []
    return " and ".join(said) or "replaces nothing"
