"""Rules about keys of a CSV: misplaced edges, unknown keys, ignored edges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from everpath.loaders.bundle.update_graph import build_channels
from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import Bundle, Catalog, UpdateMode
from everpath.rules.findings import Finding, Severity
from tests.support.everpath.bundles import read_bundle, read_packages, write_bundle
from tests.support.everpath.documents import in_folder, repository
from tests.support.everpath.graphs import findings, parse_report, rule_ids

A, B, C = "op.v1.0.0", "op.v1.1.0", "op.v1.2.0"
HOME = "metadata.annotations[olm.skipRange]"


def found(rule: str, **csv: Any) -> tuple[Finding, ...]:
    return parse_report(repository(in_folder(A, **csv)), rule)


@pytest.mark.parametrize(
    ("keys", "written", "home"),
    [
        ({"annotation_keys": ("olm.skipsRange",)}, "metadata.annotations[olm.skipsRange]", HOME),
        ({"annotation_keys": ("olm.skipRanges",)}, "metadata.annotations[olm.skipRanges]", HOME),
        ({"annotation_keys": ("olm.skiprange",)}, "metadata.annotations[olm.skiprange]", HOME),
        ({"annotation_keys": ("skipRange",)}, "metadata.annotations.skipRange", HOME),
        ({"annotation_keys": ("olm.replaces",)}, "metadata.annotations[olm.replaces]", "spec.replaces"),
        ({"metadata_keys": ("olm.skipRange",)}, "metadata[olm.skipRange]", HOME),
        ({"spec_keys": ("skipRange",)}, "spec.skipRange", HOME),
        ({"spec_keys": ("olm.skipRange",)}, "spec[olm.skipRange]", HOME),
        ({"spec_keys": ("Replaces",)}, "spec.Replaces", "spec.replaces"),
        ({"spec_keys": ("replace",)}, "spec.replace", "spec.replaces"),
        ({"spec_keys": ("Skips",)}, "spec.Skips", "spec.skips"),
        ({"metadata_keys": ("skips",)}, "metadata.skips", "spec.skips"),
    ],
)
def test_misplaced_edge_is_reported_with_the_right_key(
    keys: dict[str, tuple[str, ...]], written: str, home: str
) -> None:
    (finding,) = found("misplaced-key", **keys)
    assert finding.message == f"OLM ignores {written} of {A}"
    assert finding.fix == f"move it to {home}; if the bundle is released, add it to the next release"
    assert finding.severity is Severity.WARNING
    assert finding.because[0].endswith(f" from {home}")
    assert finding.place.pointer[-1] == next(iter(keys.values()))[0]


def test_misplaced_edge_beside_the_right_key_is_a_note() -> None:
    (finding,) = found("EP431", annotation_keys=("olm.skipRange",), spec_keys=("skipRange",))
    assert (finding.severity, finding.fix) == (Severity.NOTE, "remove it")
    assert finding.because == (f"it reads skipRange from {HOME}, which is also set",)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (">=1.0.0 <1.1.0", ""),
        ("<=v0.9.0", " as '<=0.9.0'"),
        ("everything", " as a range such as '>=1.0.0 <1.2.0'"),
    ],
)
@pytest.mark.parametrize("layout", ["{}", "{} # as written"])
def test_misplaced_range_is_parsed(tmp_path: Path, text: str, value: str, layout: str) -> None:
    folder = write_bundle(tmp_path, A, skipRange=text)
    manifest = folder / f"manifests/{A}.clusterserviceversion.yaml"
    manifest.write_text(layout.format(manifest.read_text()))
    (finding,) = parse_report(read_bundle(tmp_path), "EP431")
    assert finding.fix == f"move it to {HOME}{value}; if the bundle is released, add it to the next release"
    assert ("^" in " ".join(finding.because)) is bool(value)


def test_range_under_every_misplaced_key_is_parsed(tmp_path: Path) -> None:
    notes = {"olm.skipsRange": "<v1", "skip-range": "<v2", "olm.skipRange": "<0.9.0", "other": "<v3"}
    write_bundle(tmp_path, A, notes=notes, skipRange=["<1"], skip_range="<v4")
    (bundle,) = read_bundle(tmp_path).packages[0].bundles
    assert bundle.csv is not None
    assert bundle.csv.misplaced_ranges == (
        (("metadata", "annotations", "olm.skipsRange"), "<v1"),
        (("metadata", "annotations", "skip-range"), "<v2"),
        (("spec", "skip_range"), "<v4"),
    )


def test_unknown_key_is_reported_at_the_key(tmp_path: Path) -> None:
    write_bundle(tmp_path, A, skipRange="<1.0.0", support="us")
    for finding in parse_report(read_bundle(tmp_path), "EP431", "EP432"):
        location = locate(finding.place, Sources())
        assert location.source_line[location.column - 1 : location.end_column - 1] in ("skipRange", "support")


def test_right_keys_and_other_annotations_are_accepted() -> None:
    keys = ("olm.skipRange", "replaces", "example.com/skips")
    assert found("EP431", annotation_keys=keys, spec_keys=("replaces", "skips")) == ()


NOBODYS = "remove it, or move it to metadata.annotations"


@pytest.mark.parametrize(
    ("part", "key", "fix"),
    [
        ("spec", "miniKubeVersion", "did you mean minKubeVersion?"),
        ("spec", "minikubeVersion", "did you mean minKubeVersion?"),
        ("spec", "crds", "rename it to customresourcedefinitions"),
        ("spec", "annotations", "move them to metadata.annotations, which OLM reads"),
        ("spec", "com.redhat.openshift.versions", "move it to metadata/annotations.yaml"),
        ("spec", "support", NOBODYS),
        ("metadata", "minKubeVersion", "move it to spec.minKubeVersion"),
        ("metadata", "features.operators.openshift.io/cnf", "move it to metadata.annotations"),
        ("metadata", "example.com", "move it to metadata.annotations"),
        ("metadata", "a/b", "move it to metadata.annotations"),
        ("metadata", "repository", NOBODYS),
    ],
)
def test_unknown_key_is_a_note_with_a_suggestion(part: str, key: str, fix: str) -> None:
    (finding,) = found("unknown-key", **{f"{part}_keys": (key,)})
    assert finding.severity is Severity.NOTE
    assert finding.fix == fix
    assert finding.because == ("OLM does not know this key",)
    assert finding.place.pointer == (part, key)


def test_max_kube_version_has_its_own_fix() -> None:
    (finding,) = found("EP432", spec_keys=("maxKubeVersion",))
    assert finding.fix is not None
    assert "minKubeVersion" not in finding.fix


def test_key_in_another_case_works_only_in_olm_v0() -> None:
    (finding,) = found("EP432", spec_keys=("MinKubeVersion",))
    assert finding.because == ("OLM v0 ignores the case of keys",)
    assert finding.fix == "write minKubeVersion"


def test_known_keys_are_accepted() -> None:
    spec = ("install", "minKubeVersion", "relatedImages", "release", "nativeAPIs", "skips")
    assert found("EP432", spec_keys=spec, metadata_keys=("name", "creationTimestamp")) == ()


def test_misplaced_edge_is_not_reported_as_unknown() -> None:
    assert found("EP432", spec_keys=("skipRange", "Replaces")) == ()


def test_a_range_in_a_csv_of_no_channel_must_parse_in_whatever_mode() -> None:
    for mode in UpdateMode:
        made = repository(in_folder(A, skip_range="<v1.0.0", channels=()), mode=mode)
        (finding,) = parse_report(made, "manifest-range")
        assert finding.message.startswith(f"OLM ignores olm.skipRange of {A}, because it does not parse: ")
        assert finding.fix == "write '<1.0.0'"
        assert finding.because[2:] == ()
        assert finding.entry == A
        assert finding.place.pointer == ("metadata", "annotations", "olm.skipRange")


@pytest.mark.parametrize("mode", list(UpdateMode))
def test_range_of_an_entry_is_reported_once(mode: UpdateMode, tmp_path: Path) -> None:
    """Read from a folder, because the reader decides which ranges entries carry."""
    write_bundle(tmp_path / "op" / "1.0.0", notes={"olm.skipRange": "<v1.0.0"})
    made = read_packages(tmp_path, default_mode=mode)
    assert [f.rule for f in parse_report(made, "EP301", "EP433")] == ["EP301"]


def test_range_of_a_second_bundle_of_the_name_is_checked() -> None:
    made = repository(in_folder(A), in_folder(A, folder="1.0.1", skip_range="<v1.0.0"))
    assert len(parse_report(made, "EP433")) == 1


def test_range_without_a_suggestion_has_an_example() -> None:
    (finding,) = found("EP433", skip_range="soon", channels=())
    assert finding.fix == "write a range such as '>=1.0.0 <1.2.0'"


@pytest.mark.parametrize("span", [None, "", ">=0.1.0 <1.0.0"])
def test_valid_or_missing_range_is_accepted(span: str | None) -> None:
    assert found("EP433", skip_range=span, channels=()) == ()


def in_semver_mode(mode: UpdateMode = UpdateMode.SEMVER, **csv: Any) -> tuple[Finding, ...]:
    made = repository(in_folder(A), in_folder(B), in_folder(C, **csv), mode=mode)
    return parse_report(made, "ignored-edges")


def test_semver_mode_ignores_edges_of_a_csv() -> None:
    (finding,) = in_semver_mode(replaces=A)
    assert finding.message == f"the update mode of the package ignores that {C} replaces {A}"
    assert finding.because == (f"in stable it replaces {B}",)
    assert finding.severity is Severity.WARNING
    assert finding.place.pointer == ("spec", "replaces")


def in_modes(*bundles: Bundle) -> tuple[str | None, set[str]]:
    """What is advised in semver-mode, and what would follow of switching the mode."""
    (*_, finding) = parse_report(repository(*bundles, mode=UpdateMode.SEMVER), "ignored-edges")
    found = build_channels("op", bundles, UpdateMode.REPLACES)
    (op,) = repository(*bundles).packages
    return finding.fix, rule_ids(Catalog("test", (op._replace(channels=tuple(found)),)))


STRANDING = {"EP202", "EP206", "EP207", "EP208"}


def test_replaces_mode_is_suggested_if_it_strands_no_version() -> None:
    fix, then = in_modes(in_folder(A), in_folder(B, replaces=A), in_folder(C, replaces=A, skips=(B,)))
    assert fix == "remove replaces and skips from the CSV, or set updateGraph: replaces-mode"
    assert not then & STRANDING


@pytest.mark.parametrize("csv", [{"skips": (B,)}, {"replaces": A}, {"replaces": A, "skips": (B,)}])
def test_replaces_mode_is_not_suggested_without_edges_in_every_csv(csv: dict[str, Any]) -> None:
    fix, then = in_modes(in_folder(A), in_folder(B), in_folder(C, **csv))
    is_offered = fix == "remove replaces and skips from the CSV, or set updateGraph: replaces-mode"
    assert is_offered is not bool(then & STRANDING)
    if not is_offered:
        assert fix == (
            "remove replaces and skips from the CSV; to use them, add edges to every CSV, and "
            "set updateGraph: replaces-mode"
        )


def test_release_that_a_csv_skips_is_still_installed() -> None:
    (finding,) = in_semver_mode(UpdateMode.SEMVER_SKIPPATCH, skips=(A,))
    assert finding.severity is Severity.WARNING
    assert finding.place.pointer == ("spec", "skips")


def test_release_that_generated_edges_skip_is_a_note() -> None:
    (op,) = repository(in_folder(A), in_folder(B, skips=(A,)), mode=UpdateMode.SEMVER_SKIPPATCH).packages
    (stable,) = op.channels
    edges = (stable.entries[0], stable.entries[1]._replace(replaces=None, skips=(A,)))
    made = Catalog("test", (op._replace(channels=(stable._replace(entries=edges),)),))
    (finding,) = parse_report(made, "EP434")
    assert finding.severity is Severity.NOTE


def test_entry_without_edges_replaces_nothing() -> None:
    made = repository(in_folder(A, skips=(B,)), in_folder(B), mode=UpdateMode.SEMVER)
    (finding,) = parse_report(made, "EP434")
    assert finding.because == ("in stable it replaces nothing",)


@pytest.mark.parametrize("csv", [{"replaces": B}, {"skips": ("op.v0.9.0",)}])
def test_edges_that_agree_are_a_note(csv: dict[str, Any]) -> None:
    (finding,) = in_semver_mode(**csv)
    assert finding.severity is Severity.NOTE
    assert finding.because == ("the generated edges are the same",)
    assert finding.fix == "remove replaces and skips from the CSV"


def test_the_oldest_entry_contradicts_nothing() -> None:
    made = repository(in_folder(A, replaces="op.v0.9.0"), mode=UpdateMode.SEMVER)
    (finding,) = parse_report(made, "EP434")
    assert finding.severity is Severity.NOTE


def test_replaces_mode_uses_edges_of_a_csv() -> None:
    assert in_semver_mode(UpdateMode.REPLACES, replaces=A) == ()


def test_without_edges_in_csvs_there_is_nothing_to_ignore() -> None:
    assert in_semver_mode() == ()


def test_rendered_catalog_has_no_csv() -> None:
    assert findings("b: a\na", "EP431", "EP432", "EP433", "EP434") == []
