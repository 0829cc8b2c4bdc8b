"""Loading one bundle folder: which files are read, and the resulting model."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.detect import is_bundle_folder
from everpath.loaders.source_positions import locate
from everpath.loaders.sources import Sources
from everpath.model import UpdateMode
from tests.support.everpath.bundles import (
    annotations_yaml,
    channels,
    csv,
    edges,
    problems,
    read_bundle,
    write,
    write_bundle,
)


def test_a_bundle_is_an_entry_in_each_channel_of_its_annotations(tmp_path: Path) -> None:
    notes = {"olm.skipRange": "<1.0.0"}
    write_bundle(tmp_path, channels="stable,beta", notes=notes, replaces="op.v0.9.0", skips=["op.v0.9.1"])
    catalog = read_bundle(tmp_path)
    assert channels(catalog.packages[0]) == {"beta": ["op.v1.0.0"], "stable": ["op.v1.0.0"]}
    assert edges(catalog, "beta") == "op.v1.0.0: op.v0.9.0 / op.v0.9.1 / <1.0.0"
    assert not catalog.problems


def test_a_bundle_knows_what_its_csv_and_annotations_say(tmp_path: Path) -> None:
    write_bundle(
        tmp_path, default="stable", notes={"olm.substitutesFor": "op.v0.9.0"}, replaces="", release=2
    )
    (bundle,) = read_bundle(tmp_path).packages[0].bundles
    assert bundle.release == "2"
    assert bundle.has_objects
    assert bundle.csv is not None
    assert bundle.csv.replaces == ""
    assert bundle.csv.substitutes_for == "op.v0.9.0"
    assert bundle.csv.metadata_keys == ("name", "annotations")
    assert bundle.csv.annotation_keys == ("olm.substitutesFor",)
    assert bundle.csv.spec_keys == ("version", "replaces", "release")
    assert (bundle.csv.package, bundle.csv.channels, bundle.csv.default_channel) == (
        "op",
        ("stable",),
        "stable",
    )
    assert bundle.csv.folder is None


def test_an_empty_replaces_is_no_edge(tmp_path: Path) -> None:
    write_bundle(tmp_path, replaces="")
    assert edges(read_bundle(tmp_path)) == "op.v1.0.0"


def test_the_declared_default_channel_counts(tmp_path: Path) -> None:
    write_bundle(tmp_path, channels="a,b", default="b")
    (declaration,) = read_bundle(tmp_path).packages[0].declarations
    assert (declaration.default_channel, declaration.inferred) == ("b", False)
    assert declaration.mode is UpdateMode.REPLACES


def test_a_single_channel_is_the_default_if_none_is_declared(tmp_path: Path) -> None:
    write_bundle(tmp_path, channels="a")
    (declaration,) = read_bundle(tmp_path).packages[0].declarations
    assert (declaration.default_channel, declaration.inferred) == ("a", True)


def test_of_several_channels_none_is_the_default_by_itself(tmp_path: Path) -> None:
    write_bundle(tmp_path, channels="a,b")
    (declaration,) = read_bundle(tmp_path).packages[0].declarations
    assert (declaration.default_channel, declaration.inferred) == ("", True)


def test_metadata_files_are_known_by_their_content(tmp_path: Path) -> None:
    files = {
        "manifests/op.clusterserviceversion.yaml": csv(),
        "metadata/README.md": "a: b: c",
        "metadata/whatever.txt": annotations_yaml(),
        "metadata/dependency.yaml": "dependencies: [{type: olm.package, value: {packageName: x}}]",
    }
    catalog = read_bundle(write(tmp_path, files))
    (bundle,) = catalog.packages[0].bundles
    assert not catalog.problems
    assert bundle.package == "op"
    assert [p.value for p in bundle.properties_of("olm.package.required")] == [
        {"packageName": "x", "versionRange": None}
    ]


def test_one_metadata_file_may_hold_everything(tmp_path: Path) -> None:
    everything = (
        annotations_yaml() + "dependencies: [{type: d, value: 1}]\nproperties: [{type: p, value: 2}]\n"
    )
    files = {"manifests/op.clusterserviceversion.yaml": csv(), "metadata/all.yaml": everything}
    (bundle,) = read_bundle(write(tmp_path, files)).packages[0].bundles
    assert [(p.type, p.value) for p in bundle.properties if p.type in "dp"] == [("d", 1), ("p", 2)]


def test_of_two_annotations_files_the_first_by_name_counts(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(
        tmp_path,
        {"metadata/aaa.yaml": annotations_yaml("first"), "metadata/zzz.yaml": annotations_yaml("last")},
    )
    assert [p.name for p in read_bundle(tmp_path).packages] == ["first"]


@pytest.mark.parametrize(
    ("manifests", "metadata"),
    [("manifests/", "metadata/"), ("bundle/manifests/", "bundle/metadata/"), ("", "metadata/"), ("", "")],
)
def test_every_layout_that_repositories_hold_is_read(tmp_path: Path, manifests: str, metadata: str) -> None:
    files = {
        f"{manifests}op.clusterserviceversion.yaml": csv(),
        f"{metadata}annotations.yaml": annotations_yaml(),
    }
    write(tmp_path, files)
    assert is_bundle_folder(str(tmp_path))
    catalog = read_bundle(tmp_path)
    assert channels(catalog.packages[0]) == {"stable": ["op.v1.0.0"]}
    assert not catalog.problems


def test_metadata_beside_a_bundle_folder_is_found(tmp_path: Path) -> None:
    files = {
        "bundle/manifests/op.clusterserviceversion.yaml": csv(),
        "metadata/annotations.yaml": annotations_yaml(),
    }
    assert not read_bundle(write(tmp_path, files)).problems


def test_a_csv_under_another_name_is_found_by_its_kind(tmp_path: Path) -> None:
    files = {
        "manifests/crd.yaml": "kind: CustomResourceDefinition",
        "manifests/operator.yml": csv(),
        "manifests/.hidden.clusterserviceversion.yaml": csv("hidden.v1.0.0"),
        "metadata/annotations.yaml": annotations_yaml(),
    }
    catalog = read_bundle(write(tmp_path, files))
    assert [b.name for b in catalog.packages[0].bundles] == ["op.v1.0.0"]
    assert not catalog.problems


def test_of_two_csvs_the_first_by_file_name_counts(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {"manifests/a.yaml": csv("a.v1.0.0"), "manifests/z.yaml": csv("z.v1.0.0")})
    catalog = read_bundle(tmp_path)
    assert [b.name for b in catalog.packages[0].bundles] == ["a.v1.0.0"]
    assert problems(catalog) == [
        ("several-csvs", "op.v1.0.0.clusterserviceversion.yaml"),
        ("several-csvs", "z.yaml"),
    ]


def test_only_the_first_document_of_a_csv_is_read(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    file = tmp_path / "manifests/op.v1.0.0.clusterserviceversion.yaml"
    file.write_text(f"{csv()}---\n{csv('other.v2.0.0')}")
    catalog = read_bundle(tmp_path)
    assert [b.name for b in catalog.packages[0].bundles] == ["op.v1.0.0"]


def test_a_bundle_without_a_csv_is_a_problem(tmp_path: Path) -> None:
    catalog = read_bundle(
        write(tmp_path, {"manifests/crd.yaml": "kind: X", "metadata/annotations.yaml": annotations_yaml()})
    )
    assert problems(catalog) == [("no-csv", "manifests")]
    assert not catalog.packages


def test_a_bundle_without_annotations_is_in_no_channel(tmp_path: Path) -> None:
    folder = write(tmp_path / "op", {"manifests/op.clusterserviceversion.yaml": csv()})
    catalog = read_bundle(folder)
    assert problems(catalog) == [("no-annotations", "op.clusterserviceversion.yaml")]
    assert [(p.name, channels(p)) for p in catalog.packages] == [("op", {})]
    assert catalog.problems[0].entry == "op.v1.0.0"


def test_annotations_that_name_nothing_are_none(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    write(tmp_path, {"metadata/annotations.yaml": "annotations:\n  com.redhat.openshift.versions: v4.12\n"})
    assert problems(read_bundle(tmp_path)) == [("no-annotations", "op.v1.0.0.clusterserviceversion.yaml")]


def test_a_folder_without_manifests_is_no_bundle(tmp_path: Path) -> None:
    assert not is_bundle_folder(str(tmp_path))
    with pytest.raises(UnreadableInput, match="is not a bundle"):
        read_bundle(tmp_path)


def test_manifests_alone_without_a_csv_do_not_make_a_bundle_folder(tmp_path: Path) -> None:
    assert not is_bundle_folder(str(write(tmp_path, {"manifests/deployment.yaml": "kind: Deployment"})))


@pytest.mark.parametrize(
    ("written", "read"),
    [("a, b", ("a", "b")), (" a", ("a",)), ("a,", ("a",)), ("a,,b", ("a", "b"))],
)
def test_channels_with_blanks_are_trimmed_and_reported(
    tmp_path: Path, written: str, read: tuple[str, ...]
) -> None:
    catalog = read_bundle(write_bundle(tmp_path, channels=written))
    assert tuple(channels(catalog.packages[0])) == read
    assert problems(catalog) == [("untrimmed-channels", "annotations.yaml")]
    assert catalog.problems[0].fix == f"write {','.join(read)}"


def test_a_channel_named_twice_has_one_entry(tmp_path: Path) -> None:
    catalog = read_bundle(write_bundle(tmp_path, channels="a,a"))
    assert channels(catalog.packages[0]) == {"a": ["op.v1.0.0"]}
    assert not catalog.problems


def test_files_are_named_from_the_folder_as_it_was_given(tmp_path: Path) -> None:
    write_bundle(tmp_path)
    (bundle,) = read_bundle(tmp_path).packages[0].bundles
    assert bundle.place.file == str(tmp_path / "manifests" / "op.v1.0.0.clusterserviceversion.yaml")
    assert bundle.csv is not None
    assert bundle.csv.annotations is not None
    assert bundle.csv.annotations.file == str(tmp_path / "metadata" / "annotations.yaml")


def test_every_field_has_a_line(tmp_path: Path) -> None:
    write_bundle(tmp_path, default="stable", notes={"olm.skipRange": "<1.0.0"}, replaces="op.v0.9.0")
    (package,) = read_bundle(tmp_path).packages
    entry, sources = package.channels[0].entries[0], Sources()
    lines = {
        field: locate(entry.place.at(field), sources).source_line.strip()
        for field in ("name", "replaces", "skipRange", "version")
    }
    assert lines == {
        "name": "name: op.v1.0.0",
        "replaces": "replaces: op.v0.9.0",
        "skipRange": "olm.skipRange: <1.0.0",
        "version": "version: 1.0.0",
    }
    default = locate(package.declarations[0].place.at("defaultChannel"), sources)
    assert default.source_line.strip() == "operators.operatorframework.io.bundle.channel.default.v1: stable"
    assert "channels.v1: stable" in locate(package.channels[0].place, sources).source_line
