"""The kinds of input that can be served."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everpath.errors import EverpathError, UnreadableInput
from everpath.server import registry_pb2 as api
from everpath.server.catalog.snapshot import CatalogSnapshot, take_snapshot
from tests.support.commandline import ROOT
from tests.support.everpath.catalogs import fbc


def take(path: Path | str) -> CatalogSnapshot:
    return take_snapshot(str(path), {"EVERPATH_CACHE": "off"})


def list_bundles(snapshot: CatalogSnapshot) -> list[api.Bundle]:
    return [api.Bundle.FromString(message) for message in snapshot.queries.list_bundles()]


def test_a_single_file(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(fbc("b: a\na"))
    assert [b.csvName for b in list_bundles(take(tmp_path / "catalog.yaml"))] == ["a", "b"]


def test_files_in_indexignore_are_not_read(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(fbc("a"))
    (tmp_path / "README.md").write_text("# no catalog")
    with pytest.raises(EverpathError, match=r"README\.md"):
        take(tmp_path)
    (tmp_path / ".indexignore").write_text("README.md\n")
    snapshot = take(tmp_path)
    assert len(list_bundles(snapshot)) == 1
    assert [Path(file).name for file in snapshot.files] == ["catalog.yaml"]


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="contains no catalog"):
        take(tmp_path)


@pytest.mark.parametrize("form", ["repository", "package", "bundle"])
def test_bundles_are_served_with_their_manifests(form: str) -> None:
    """As `everpath migrate` converts them: without images, so that OLM unpacks none."""
    root = ROOT / "bundles"
    package = next(path for path in sorted(root.iterdir()) if path.is_dir())
    bundle = next(path for path in sorted(package.iterdir()) if (path / "manifests").is_dir())
    snapshot = take({"repository": root, "package": package, "bundle": bundle}[form])
    bundles = list_bundles(snapshot)
    assert bundles
    for message in bundles:
        assert message.bundlePath == ""
        assert json.loads(message.csvJson)["metadata"]["name"] == message.csvName
        assert len(message.object) > 1


def test_several_documents_on_one_line_are_separated(tmp_path: Path) -> None:
    documents = [
        {"schema": "olm.package", "name": "p", "defaultChannel": "c"},
        {"schema": "olm.channel", "package": "p", "name": "c", "entries": [{"name": "a"}]},
        {
            "schema": "olm.bundle",
            "package": "p",
            "name": "a",
            "image": "r.example/p:1",
            "properties": [
                {"type": "olm.package", "value": {"packageName": "p", "version": "1.0.0"}},
                {"type": "olm.csv.metadata", "value": {"displayName": "A"}},
            ],
        },
        {"schema": "com.example", "name": "last"},
    ]
    (tmp_path / "catalog.json").write_text(" ".join(map(json.dumps, documents)))
    snapshot = take(tmp_path)
    csv = json.loads(snapshot.queries.get_bundle("p", "c", "a").csvJson)
    assert csv["spec"]["displayName"] == "A"
    (custom,) = snapshot.queries.list_custom_documents("com.example", "")
    assert snapshot.document(custom.document) == {"name": "last", "schema": "com.example"}


def test_yaml_that_starts_with_a_brace_is_parsed_as_yaml(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(
        "{schema: olm.package, name: p, defaultChannel: c}\n---\n"
        "{schema: olm.channel, package: p, name: c, entries: [{name: a}]}\n---\n"
        "{schema: olm.bundle, package: p, name: a, image: r.example/p, properties: ["
        "{type: olm.package, value: {packageName: p, version: 1.0.0}},"
        "{type: olm.csv.metadata, value: {displayName: A}}]}\n"
    )
    csv = json.loads(take(tmp_path).queries.get_bundle("p", "c", "a").csvJson)
    assert csv["spec"]["displayName"] == "A"
