"""Rules about keys of a CSV: spellings, all findings, and the fix with replaces-mode."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.graph import PackageGraph
from everpath.model import Bundle, Catalog, Channel, Entry, Package, Place, UpdateMode
from everpath.rules.csv_keys import _is_sound
from everpath.rules.findings import Finding, Severity
from tests.support.everpath.documents import bundle, catalog, in_folder, repository
from tests.support.everpath.graphs import channel_graph, parse_report

A, B, C = "op.v1.0.0", "op.v1.1.0", "op.v1.2.0"


def found(rule: str, **csv: Any) -> tuple[Finding, ...]:
    return parse_report(repository(in_folder(A, **csv)), rule)


@pytest.mark.parametrize(
    ("spelling", "edge"),
    [
        ("skipRange", "skipRange"),
        ("skipsRange", "skipRange"),
        ("skipRanges", "skipRange"),
        ("skipsRanges", "skipRange"),
        ("skip-range", "skipRange"),
        ("skip_range", "skipRange"),
        ("replace", "replaces"),
        ("replaces", "replaces"),
        ("skip", "skips"),
        ("skips", "skips"),
    ],
)
def test_an_edge_is_recognised_in_every_spelling(spelling: str, edge: str) -> None:
    (finding,) = found("EP431", metadata_keys=(spelling,))
    assert finding.because[0].startswith(f"it reads {edge} from ")


def test_annotation_with_prefix_olm_is_recognised_in_any_case() -> None:
    (finding,) = found("EP431", annotation_keys=("OLM.skips", "skips"))
    assert finding.place.pointer[-1] == "OLM.skips"


def test_every_misplaced_edge_is_reported() -> None:
    strays = found("EP431", metadata_keys=("replaces", "skips"), spec_keys=("replaces",))
    assert [(f.place.pointer[-1], f.severity) for f in strays] == [
        ("skips", Severity.WARNING),
        ("replaces", Severity.NOTE),
    ]


def test_every_unknown_key_is_reported_with_its_path() -> None:
    unknown = found("EP432", spec_keys=("foo", "bar"), metadata_keys=("baz",))
    assert [f.message for f in unknown] == [
        f"the API server prunes metadata.baz of {A}",
        f"the API server prunes spec.foo of {A}",
        f"the API server prunes spec.bar of {A}",
    ]


@pytest.mark.parametrize(
    ("key", "fix"), [("linkz", "did you mean links?"), ("display", "remove it, or move")]
)
def test_suggestion_for_a_key_needs_80_percent_of_equal_letters(key: str, fix: str) -> None:
    assert [str(f.fix).startswith(fix) for f in found("EP432", spec_keys=(key,))] == [True]


def test_every_range_in_no_channel_is_checked() -> None:
    astray = [in_folder(name, channels=(), skip_range="<v1") for name in (A, B)]
    assert [f.entry for f in parse_report(repository(in_folder(C), *astray), "EP433")] == [A, B]


def semver(*bundles: Bundle) -> Catalog:
    return repository(*bundles, mode=UpdateMode.SEMVER)


def test_fix_for_edges_that_agree_removes_them() -> None:
    agrees, differs = parse_report(
        semver(in_folder(A), in_folder(B, replaces=A), in_folder(C, replaces=A)), "EP434"
    )
    assert (agrees.entry, agrees.severity, agrees.fix) == (
        B,
        Severity.NOTE,
        "remove replaces and skips from the CSV",
    )
    assert (differs.entry, differs.severity) == (C, Severity.WARNING)
    assert differs.because == (f"in stable it replaces {B}",)


def test_every_channel_that_differs_is_reported_with_its_edges() -> None:
    both = ("stable", "fast")
    older = [in_folder(name, channels=both) for name in (A, B)]
    (finding,) = parse_report(semver(*older, in_folder(C, channels=both, skips=(A, B))), "EP434")
    assert finding.message.endswith(f" ignores that {C} skips {A} and {B}")
    assert finding.because == (f"in stable it replaces {B}", f"in fast it replaces {B}")


def test_replaces_mode_must_be_sound_in_every_channel() -> None:
    made = semver(
        in_folder(A, channels=("stable",)),
        in_folder(B, channels=("fast",)),
        in_folder(C, channels=("stable", "fast"), replaces=A),
    )
    (finding,) = parse_report(made, "EP434")
    assert finding.fix is not None
    assert finding.fix.endswith("; to use them, add edges to every CSV, and set updateGraph: replaces-mode")


def test_bundle_without_a_csv_has_no_edges() -> None:
    (made,) = semver(in_folder(A), in_folder(B), in_folder(C, skips=(B,))).packages
    (rendered,) = catalog(bundle("op.v1.3.0")).packages[0].bundles
    (stable,) = made.channels
    entries = (*stable.entries, Entry(rendered.name, Place("x.yaml"), C))
    channel = Channel("stable", "op", stable.place, entries)
    joined = Package("op", made.declarations, (channel,), (*made.bundles, rendered))
    assert PackageGraph(joined).channels_by_entry[rendered.name] == ("stable",)
    (finding,) = parse_report(Catalog("test", (joined,)), "EP434")
    assert finding.entry == C


@pytest.mark.parametrize("rule", ["EP433", "EP434"])
def test_first_of_two_channels_with_one_name_counts(rule: str) -> None:
    (one,) = semver(in_folder(A), in_folder(B)).packages
    (other,) = semver(in_folder(C, replaces=A, skip_range="<v1")).packages
    channels, bundles = (*one.channels, *other.channels), (*one.bundles, *other.bundles)
    assert [channel.name for channel in channels] == ["stable", "stable"]
    joined = Package("op", (*one.declarations, *other.declarations), channels, bundles)
    (finding,) = parse_report(Catalog("test", (joined,)), rule)
    assert finding.entry == C


@pytest.mark.parametrize(
    ("drawing", "is_sound"),
    [
        ("b3: b2\nb2: b1\nb1", True),
        ("b3: - / b2\nb2: - / b1\nb1", False),  # OLM v0 strands b1
        ("b1: b2\nb2", False),  # v1 stays on b2
        ("b3: b2\nb2: b1 / - / =3.0.0\nb1", False),  # v0 goes in a circle
        ("b4: b3 / - / <4.0.0\nb3: b2 / b2\nb2: b1\nb1", False),  # opm rejects it
    ],
)
def test_channel_is_sound_if_opm_accepts_it_and_no_version_is_stranded(drawing: str, is_sound: bool) -> None:
    assert _is_sound(channel_graph(drawing)) is is_sound
