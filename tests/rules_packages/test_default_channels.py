"""What users get who name no channel."""

from __future__ import annotations

from documents import bundle, catalog, channel, in_folder, package, repository
from everpath.model import Catalog, Declaration, Package, Place, UpdateMode
from everpath.rules.findings import Severity
from graphs import findings, parse_report

A, B = "op.v1.0.0", "op.v1.1.0"


def two_channels(default: str) -> Catalog:
    return catalog(package(default=default), channel(A), channel(A, B, name="fast"), bundle(A), bundle(B))


def test_a_rendered_package_without_default_channel_is_refused_even_with_one_channel() -> None:
    (finding,) = parse_report(catalog(package(default=""), channel(A), bundle(A)), "no-default-channel")
    assert finding.fix == "set defaultChannel: stable in the olm.package document"


def test_the_channel_with_the_highest_version_is_offered_as_default() -> None:
    (finding,) = parse_report(two_channels(""), "EP103")
    assert finding.message == "the package op names no default channel; it has fast and stable"
    assert finding.fix == "set defaultChannel: fast in the olm.package document"


def test_the_channel_is_offered_by_what_it_holds_and_not_by_its_name() -> None:
    made = catalog(package(default=""), channel(A, name="a"), channel(A, B, name="b"), bundle(A), bundle(B))
    (finding,) = parse_report(made, "EP103")
    assert finding.fix == "set defaultChannel: b in the olm.package document"


def test_a_channel_of_releases_is_offered_before_one_of_pre_releases() -> None:
    late = "op.v2.0.0-rc.1"
    made = catalog(
        package(default=""), channel(late, name="candidate"), channel(A, B), *map(bundle, (A, B, late))
    )
    (finding,) = parse_report(made, "EP103")
    assert finding.fix == "set defaultChannel: stable in the olm.package document"
    only = catalog(package(default=""), channel(late, name="candidate"), bundle(late))
    assert parse_report(only, "EP103")[0].fix == "set defaultChannel: candidate in the olm.package document"


def test_any_channel_is_offered_where_there_is_no_version_to_go_by() -> None:
    made = catalog(package(default=""), channel(A, name="b"), channel(A, name="a"))
    (finding,) = parse_report(made, "EP103")
    assert finding.fix == "set defaultChannel: a in the olm.package document"


def test_an_undeclared_package_lacks_more_than_a_default_channel() -> None:
    assert findings(catalog(channel(A), bundle(A)), "EP103") == []


def test_a_default_channel_that_is_not_named_is_not_absent_too() -> None:
    assert findings(two_channels(""), "EP104") == []


def test_of_bundle_folders_the_only_channel_is_the_default() -> None:
    assert findings(repository(in_folder(A)), "EP103") == []


def test_of_bundle_folders_with_two_channels_none_is_the_default() -> None:
    made = repository(in_folder(A, channels=("alpha", "beta")))
    assert findings(made, "EP103") == [
        "EP103 op: the package op names no default channel; it has alpha and beta"
    ]


def test_a_package_file_may_leave_out_the_default_of_its_only_channel() -> None:
    """The format before bundles, which declares the package itself."""
    (made,) = repository(in_folder(A)).packages
    declared = Package("op", (Declaration(Place("op.package.yaml")),), made.channels, made.bundles)
    assert findings(Catalog("test", (declared,)), "EP103") == []


def test_a_misspelled_default_channel_is_named_with_what_was_meant() -> None:
    (finding,) = parse_report(two_channels("stabel"), "default-channel-absent")
    assert finding.message == "the default channel 'stabel' of op does not exist"
    assert finding.fix == "did you mean stable?"


def test_a_default_channel_unlike_any_other_is_answered_with_all_of_them() -> None:
    (finding,) = parse_report(two_channels("xyz"), "EP104")
    assert finding.fix == "name one of fast and stable"


def test_no_default_channel_is_looked_for_in_a_package_without_channels() -> None:
    assert findings(catalog(package()), "EP103", "EP104") == []


def test_where_no_bundle_names_a_default_the_only_channel_is_taken_and_noted() -> None:
    (finding,) = parse_report(repository(in_folder(A)), "default-channel-inferred")
    assert finding.message == "no bundle of op names a default channel; stable, the only one, is taken"
    assert finding.severity is Severity.NOTE


def test_nothing_is_inferred_where_a_bundle_names_the_default() -> None:
    assert findings(repository(in_folder(A), in_folder(B, default_channel="stable")), "EP112") == []


def test_nothing_is_inferred_of_two_channels_or_of_a_rendered_catalog() -> None:
    assert findings(repository(in_folder(A, channels=("a", "b"))), "EP112") == []
    assert findings(catalog(package(), channel(A), bundle(A)), "EP112") == []


def test_a_highest_version_outside_the_default_channel_is_a_warning_in_a_repository() -> None:
    made = repository(in_folder(A), in_folder(B, channels=("fast",)), default="stable")
    (finding,) = parse_report(made, "default-channel-left-behind")
    assert finding.message == f"{B}, the highest version, is not in the default channel stable"
    assert finding.because == ("1.1.0 is only in fast", f"new users get {A}")
    assert finding.severity is Severity.WARNING
    assert finding.fix == (
        f"if it is for everybody, release it to stable too, with replaces: {A}; if it is of another line, "
        "leave it and waive this"
    )


def test_where_versions_make_the_edges_none_is_asked_for() -> None:
    for mode in (UpdateMode.SEMVER, UpdateMode.SEMVER_SKIPPATCH):
        made = repository(in_folder(A), in_folder(B, channels=("fast",)), default="stable", mode=mode)
        (finding,) = parse_report(made, "EP113")
        assert (finding.fix or "").startswith("if it is for everybody, release it to stable too; ")


def test_in_a_rendered_catalog_it_may_be_a_candidate_and_is_noted() -> None:
    (finding,) = parse_report(two_channels("stable"), "EP113")
    assert finding.severity is Severity.NOTE


def test_a_pre_release_leaves_no_rendered_channel_behind() -> None:
    late = "op.v1.1.0-rc.1"
    made = catalog(package(), channel(A), channel(A, late, name="fast"), bundle(A), bundle(late))
    assert findings(made, "EP113") == []


def test_in_a_repository_a_pre_release_counts() -> None:
    made = repository(in_folder(A), in_folder("op.v1.1.0-rc.1", channels=("fast",)), default="stable")
    assert len(findings(made, "EP113")) == 1


def test_a_default_channel_without_a_head_gives_new_users_nothing() -> None:
    loop = channel({"name": A, "replaces": "op.v1.0.1"}, {"name": "op.v1.0.1", "replaces": A})
    made = catalog(package(), loop, channel(B, name="fast"), bundle(A), bundle("op.v1.0.1"), bundle(B))
    (finding,) = parse_report(made, "EP113")
    assert finding.because[1] == "new users get nothing"
    assert (finding.fix or "").startswith("if it is for everybody, release it to stable too; ")


def test_a_default_channel_with_the_highest_version_is_not_left_behind() -> None:
    assert findings(two_channels("fast"), "EP113") == []


def test_a_highest_version_in_no_channel_is_another_rules_business() -> None:
    assert findings(catalog(package(), channel(A), bundle(A), bundle(B)), "EP113") == []


def test_a_changed_default_channel_is_noted_with_each_change() -> None:
    made = repository(
        in_folder(A, default_channel="alpha"),
        in_folder(B, default_channel="beta", channels=("alpha", "beta", "stable")),
        in_folder("op.v1.2.0"),
        in_folder("op.v1.10.0", default_channel="stable"),
        default="stable",
    )
    (finding,) = parse_report(made, "default-channel-changed")
    assert finding.message == "the default channel of op changed to stable with op.v1.10.0"
    assert finding.because == (
        "op.v1.1.0 changed it from alpha to beta",
        "op.v1.10.0 changed it from beta to stable",
    )
    assert finding.place.file == "operators/op/1.10.0/metadata/annotations.yaml"


def test_without_a_file_of_annotations_the_csv_is_pointed_at() -> None:
    old, new = (in_folder(n, default_channel=c, annotations=None) for n, c in ((A, "alpha"), (B, "stable")))
    (finding,) = parse_report(repository(old, new), "EP114")
    assert finding.place.file == "operators/op/1.1.0/manifests/csv.yaml"


def test_the_same_default_channel_throughout_is_no_change() -> None:
    made = repository(in_folder(A, default_channel="stable"), in_folder(B, default_channel="stable"))
    assert findings(made, "EP114") == []
