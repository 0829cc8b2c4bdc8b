"""`everpath catalog render`."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.commandline import Everpath
from tests.support.everpath.bundles import write
from tests.support.everpath.rendered_catalogs import blob, bundle_files, semver


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write(tmp_path / "bundle", bundle_files())


def documents(text: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(text) if document]


def test_a_bundle_is_rendered_as_yaml_or_json(everpath: Everpath, bundle: Path) -> None:
    answer = everpath("catalog", "render", str(bundle))
    assert (answer.code, answer.err) == (0, "")
    [rendered] = documents(answer.out)
    assert rendered["name"] == "op.v1.0.0"
    for option in ("-o", "--format"):
        assert json.loads(everpath("catalog", "render", str(bundle), option, "json").out) == rendered


def test_image_templates_are_expanded_and_manifests_replaced_by_metadata(
    everpath: Everpath, bundle: Path
) -> None:
    template = ("--image-ref-template", "r.example/{{.Package}}:v{{.Version}}")
    migration = ("--migrate-level", "bundle-object-to-csv-metadata")
    [rendered] = documents(everpath("catalog", "render", str(bundle), *template, *migration).out)
    assert rendered["image"] == "r.example/op:v1.0.0"
    assert rendered["properties"][-1]["type"] == "olm.csv.metadata"


def test_an_error_shows_the_line_and_writes_nothing(everpath: Everpath, tmp_path: Path) -> None:
    folder = write(tmp_path / "b", bundle_files(version=1.5))
    target = tmp_path / "catalog.yaml"
    answer = everpath("catalog", "render", str(folder), "--output-file", str(target))
    assert (answer.code, answer.out) == (1, "")
    assert "error: the version of the CSV is not a string: 1.5" in answer.err
    assert "clusterserviceversion.yaml:9:14" in answer.err
    assert "hint: quote it" in answer.err
    assert not target.exists()


def test_every_rejected_path_is_reported(everpath: Everpath, tmp_path: Path) -> None:
    folders = [str(write(tmp_path / name, bundle_files(version=1.5))) for name in ("a", "b")]
    assert everpath("catalog", "render", *folders).err.count("error:") == 2


def test_a_file_that_opm_ignores_is_a_warning(everpath: Everpath, bundle: Path) -> None:
    write(bundle, {"manifests/broken.yaml": "a: ["})
    answer = everpath("catalog", "render", str(bundle))
    assert answer.code == 0
    assert "warning: not YAML" in answer.err
    assert "broken.yaml" in answer.err


def written(path: Path, *bodies: object) -> str:
    path.write_text("\n".join(map(json.dumps, bodies)))
    return str(path)


def test_a_template_takes_its_bundles_from_folders_and_catalogs(
    everpath: Everpath, tmp_path: Path, bundle: Path
) -> None:
    template = written(tmp_path / "t.yaml", semver(stable=["1.0.0", "1.0.1"]))
    catalog = written(tmp_path / "c.json", blob("1.0.1"))
    answer = everpath("catalog", "render", template, "--bundle", f"op:1.0.0={bundle}", "--from", catalog)
    assert answer.code == 0, answer.err
    kinds = [(d["schema"], d["name"]) for d in documents(answer.out)]
    assert kinds == [
        ("olm.package", "op"),
        ("olm.channel", "stable-v1.0"),
        ("olm.bundle", "op.v1.0.0"),
        ("olm.bundle", "op.v1.0.1"),
    ]


def test_a_template_may_take_its_bundles_from_standard_input(everpath: Everpath, tmp_path: Path) -> None:
    template = written(tmp_path / "t.yaml", semver(stable=["1.0.0"]))
    answer = everpath("catalog", "render", template, "--from", "-", stdin=json.dumps(blob("1.0.0")))
    assert (answer.code, len(documents(answer.out))) == (0, 3)


def carrying(manifest: str) -> dict[str, Any]:
    carried = {"type": "olm.bundle.object", "value": {"data": b64encode(manifest.encode()).decode()}}
    plain = blob("1.0.0")
    return {**plain, "properties": [*plain["properties"], carried]}


def test_a_manifest_in_a_catalog_may_be_yaml(everpath: Everpath, tmp_path: Path) -> None:
    csv = "kind: ClusterServiceVersion\nspec:\n  displayName: on\n  version: 1.0.0\n"
    catalog = written(tmp_path / "c.json", carrying(csv.replace(": on", ": 'on'")))
    answer = everpath("catalog", "render", catalog, "--migrate-level", "bundle-object-to-csv-metadata")
    assert documents(answer.out)[0]["properties"][-1]["value"]["displayName"] == "on"


def test_an_unparsable_manifest_in_a_catalog_is_an_error(everpath: Everpath, tmp_path: Path) -> None:
    answer = everpath("catalog", "render", written(tmp_path / "c.json", carrying("a: [")))
    assert (answer.code, "does not parse" in answer.err) == (1, True)


def test_an_unknown_image_is_an_error_with_the_options_to_provide_it(
    everpath: Everpath, tmp_path: Path
) -> None:
    answer = everpath("catalog", "render", written(tmp_path / "t.yaml", semver(stable=["1.0.0"])))
    assert answer.code == 1
    assert "the content of op:1.0.0 is unknown, and images are not pulled" in answer.err
    assert "hint: --pull, --bundle op:1.0.0=FOLDER, or --from a catalog that contains it" in answer.err


def test_a_template_of_two_documents_is_an_error(everpath: Everpath, tmp_path: Path) -> None:
    template = written(tmp_path / "t.json", semver(stable=["1.0.0"]), {"schema": "x"})
    answer = everpath("catalog", "render", template)
    assert (answer.code, "a template is one document" in answer.err) == (1, True)


def test_a_duplicate_key_in_a_semver_template_is_an_error(everpath: Everpath, tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("schema: olm.semver\nstable: {}\nstable: {}\n")
    answer = everpath("catalog", "render", str(tmp_path / "t.yaml"))
    assert (answer.code, "duplicate key stable" in answer.err) == (1, True)


def test_a_catalog_folder_is_rendered_in_opms_order(everpath: Everpath, tmp_path: Path) -> None:
    (tmp_path / "catalog").mkdir()
    written(tmp_path / "catalog/b.json", blob("1.0.1"), {"schema": "custom.thing", "z": 1})
    written(
        tmp_path / "catalog/a.json", {"schema": "olm.package", "name": "op", "defaultChannel": "c", "note": 1}
    )
    (tmp_path / "catalog/.indexignore").write_text("*.md\n")
    (tmp_path / "catalog/README.md").write_text("# hello: there: all\n")
    answer = everpath("catalog", "render", str(tmp_path / "catalog"))
    assert [d["schema"] for d in documents(answer.out)] == ["olm.package", "olm.bundle", "custom.thing"]
    assert documents(answer.out)[0]["note"] == 1


def test_an_invalid_catalog_is_an_error_with_its_line(everpath: Everpath, tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("schema: olm.package\nname: [\n")
    answer = everpath("catalog", "render", str(tmp_path / "c.yaml"))
    assert answer.code == 1
    assert "does not parse" in answer.err


def test_bundles_of_a_catalog_are_migrated_too(everpath: Everpath, tmp_path: Path, bundle: Path) -> None:
    whole = everpath("catalog", "render", str(bundle), "--image-ref-template", "op:1").out
    (tmp_path / "c.yaml").write_text(whole)
    answer = everpath(
        "catalog", "render", str(tmp_path / "c.yaml"), "--migrate-level", "bundle-object-to-csv-metadata"
    )
    assert documents(answer.out)[0]["properties"][-1]["type"] == "olm.csv.metadata"
    assert everpath("catalog", "render", str(tmp_path / "c.yaml")).out == whole


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "nothing to render"),
        (("nowhere",), 3, "cannot read nowhere"),
        (("-", "-"), 2, "standard input can be read only once"),
        (("x", "--bundle", "op:1"), 2, "is not IMAGE=FOLDER"),
    ],
)
def test_wrong_options_are_errors(
    everpath: Everpath, arguments: tuple[str, ...], code: int, words: str
) -> None:
    answer = everpath("catalog", "render", *arguments)
    assert (answer.code, words in answer.err) == (code, True), answer.err


def test_a_repository_is_an_error_with_the_pattern_of_its_bundles(everpath: Everpath, tmp_path: Path) -> None:
    write(tmp_path / "repo/operators/op/1.0.0", bundle_files())
    answer = everpath("catalog", "render", str(tmp_path / "repo"))
    assert (answer.code, "is a repository of bundles" in answer.err) == (2, True)
