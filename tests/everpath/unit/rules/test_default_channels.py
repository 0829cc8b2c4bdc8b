"""Rules about default channels."""

from __future__ import annotations

from everpath.model import Catalog, Declaration, Package, Place, UpdateMode
from everpath.rules.findings import Severity
from tests.support.everpath.documents import bundle, catalog, channel, in_folder, package, repository
from tests.support.everpath.graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"


def two_channels(default: str) -> Catalog:
    return catalog(package(default=default), channel(A), channel(A, B, name="fast"), bundle(A), bundle(B))


def test_rendered_package_without_default_channel_is_reported_even_with_one_channel() -> None:
    (finding,) = parse_report(catalog(package(default=""), channel(A), bundle(A)), "no-default-channel")
    assert finding.fix == "set defaultChannel: stable in the olm.package document"


def test_channel_with_the_highest_version_is_suggested() -> None:
    (finding,) = parse_report(two_channels(""), "EP103")
    assert finding.message == "the package op has no default channel; its channels are fast and stable"
    assert finding.fix == "set defaultChannel: fast in the olm.package document"


def test_suggested_channel_depends_on_its_entries_not_its_name() -> None:
    made = catalog(package(default=""), channel(A, name="a"), channel(A, B, name="b"), bundle(A), bundle(B))
    (finding,) = parse_report(made, "EP103")
    assert finding.fix == "set defaultChannel: b in the olm.package document"


def test_channel_with_releases_is_preferred_to_one_with_prereleases() -> None:
    late = "op.v2.0.0-rc.1"
    made = catalog(
        package(default=""), channel(late, name="candidate"), channel(A, B), *map(bundle, (A, B, late))
    )
    (finding,) = parse_report(made, "EP103")
    assert finding.fix == "set defaultChannel: stable in the olm.package document"
    only = catalog(package(default=""), channel(late, name="candidate"), bundle(late))
    assert parse_report(only, "EP103")[0].fix == "set defaultChannel: candidate in the olm.package document"


def test_first_channel_by_name_is_suggested_without_versions() -> None:
    made = catalog(package(default=""), channel(A, name="b"), channel(A, name="a"))
    (finding,) = parse_report(made, "EP103")
    assert finding.fix == "set defaultChannel: a in the olm.package document"


def test_undeclared_package_is_not_reported_by_ep103() -> None:
    assert findings(catalog(channel(A), bundle(A)), "EP103") == []


def test_missing_default_channel_is_reported_once() -> None:
    assert findings(two_channels(""), "EP104") == []


def test_only_channel_of_bundle_folders_is_the_default() -> None:
    assert findings(repository(in_folder(A)), "EP103") == []


def test_bundle_folders_with_two_channels_need_a_default() -> None:
    made = repository(in_folder(A, channels=("alpha", "beta")))
    assert findings(made, "EP103") == [
        "EP103 op: the package op has no default channel; its channels are alpha and beta"
    ]


def test_package_manifest_with_one_channel_needs_no_default() -> None:
    """The format before bundles, which declares the package itself."""
    (made,) = repository(in_folder(A)).packages
    declared = Package("op", (Declaration(Place("op.package.yaml")),), made.channels, made.bundles)
    assert findings(Catalog("test", (declared,)), "EP103") == []


def test_misspelled_default_channel_has_a_suggestion() -> None:
    (finding,) = parse_report(two_channels("stabel"), "default-channel-absent")
    assert finding.message == "the default channel 'stabel' of op does not exist"
    assert finding.fix == "did you mean stable?"


def test_fix_for_an_unknown_default_channel_lists_all() -> None:
    (finding,) = parse_report(two_channels("xyz"), "EP104")
    assert finding.fix == "write one of fast and stable"


def test_package_without_channels_is_not_reported_by_ep103_and_ep104() -> None:
    assert findings(catalog(package()), "EP103", "EP104") == []


def test_inferred_default_channel_is_a_note() -> None:
    (finding,) = parse_report(repository(in_folder(A)), "default-channel-inferred")
    assert finding.message == "no bundle of op has a default channel; stable, the only channel, is used"
    assert finding.severity is Severity.NOTE


def test_default_channel_of_a_bundle_is_not_inferred() -> None:
    assert findings(repository(in_folder(A), in_folder(B, default_channel="stable")), "EP112") == []


def test_default_channel_is_not_inferred_from_two_channels_or_a_rendered_catalog() -> None:
    assert findings(repository(in_folder(A, channels=("a", "b"))), "EP112") == []
    assert findings(catalog(package(), channel(A), bundle(A)), "EP112") == []


def test_a_highest_version_outside_the_default_channel_is_a_warning_in_a_repository() -> None:
    made = repository(in_folder(A), in_folder(B, channels=("fast",)), default="stable")
    (finding,) = parse_report(made, "default-channel-left-behind")
    assert finding.message == (
        f"Subscriptions without a channel do not get {B}, the highest version: it is not in the default "
        "channel stable"
    )
    assert finding.because == ("1.1.0 is only in fast", f"new Subscriptions get {A}")
    assert finding.severity is Severity.WARNING
    assert finding.fix == (
        f"if it is for all users, add it to stable, with replaces: {A}; otherwise waive this finding"
    )


def test_fix_has_no_edge_in_semver_mode() -> None:
    for mode in (UpdateMode.SEMVER, UpdateMode.SEMVER_SKIPPATCH):
        made = repository(in_folder(A), in_folder(B, channels=("fast",)), default="stable", mode=mode)
        (finding,) = parse_report(made, "EP113")
        assert (finding.fix or "").startswith("if it is for all users, add it to stable; ")


def test_highest_version_outside_the_default_channel_is_a_note_in_a_rendered_catalog() -> None:
    (finding,) = parse_report(two_channels("stable"), "EP113")
    assert finding.severity is Severity.NOTE


def test_prerelease_does_not_count_in_a_rendered_catalog() -> None:
    late = "op.v1.1.0-rc.1"
    made = catalog(package(), channel(A), channel(A, late, name="fast"), bundle(A), bundle(late))
    assert findings(made, "EP113") == []


def test_prerelease_counts_in_a_repository() -> None:
    made = repository(in_folder(A), in_folder("op.v1.1.0-rc.1", channels=("fast",)), default="stable")
    assert len(findings(made, "EP113")) == 1


def test_default_channel_without_a_head_installs_nothing() -> None:
    loop = channel({"name": A, "replaces": "op.v1.0.1"}, {"name": "op.v1.0.1", "replaces": A})
    made = catalog(package(), loop, channel(B, name="fast"), bundle(A), bundle("op.v1.0.1"), bundle(B))
    (finding,) = parse_report(made, "EP113")
    assert finding.because[1] == "new Subscriptions get nothing"
    assert (finding.fix or "").startswith("if it is for all users, add it to stable; ")


def test_default_channel_with_the_highest_version_is_accepted() -> None:
    assert findings(two_channels("fast"), "EP113") == []


def test_highest_version_in_no_channel_is_not_reported_by_ep113() -> None:
    assert findings(catalog(package(), channel(A), bundle(A), bundle(B)), "EP113") == []


def test_changed_default_channel_is_a_note_with_each_change() -> None:
    made = repository(
        in_folder(A, default_channel="alpha"),
        in_folder(B, default_channel="beta", channels=("alpha", "beta", "stable")),
        in_folder("op.v1.2.0"),
        in_folder("op.v1.10.0", default_channel="stable"),
        default="stable",
    )
    (finding,) = parse_report(made, "default-channel-changed")
    assert finding.message == (
        "existing Subscriptions do not follow the default channel of op, which op.v1.10.0 changed to stable"
    )
    assert finding.because == (
        "op.v1.1.0 changed it from alpha to beta",
        "op.v1.10.0 changed it from beta to stable",
    )
    assert finding.place.file == "operators/op/1.10.0/metadata/annotations.yaml"


def test_changed_default_channel_without_annotations_is_reported_at_the_csv() -> None:
    old, new = (in_folder(n, default_channel=c, annotations=None) for n, c in ((A, "alpha"), (B, "stable")))
    (finding,) = parse_report(repository(old, new), "EP114")
    assert finding.place.file == "operators/op/1.1.0/manifests/csv.yaml"


def test_equal_default_channels_are_no_change() -> None:
    made = repository(in_folder(A, default_channel="stable"), in_folder(B, default_channel="stable"))
    assert findings(made, "EP114") == []
