"""`catalog render` and opm write the same: bundles, templates and text."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from everpath.app.opm_validate import rejection_reason
from everpath.go_types import STRUCTS
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.fbc.blobs import load_blobs
from everpath.loaders.fbc.catalog_writer import catalog_text
from everpath.loaders.sources import Sources
from everpath.model import OpmError, Place
from everpath.opm_render import Blob, RenderedBundle, render_bundle
from everpath.opm_render.blobs import CatalogDocument, blob_package, decode_blob
from everpath.opm_render.bundles import embedded_csv, expand_image_template, normalize_bundle
from everpath.opm_render.csv_metadata import migrate_to_csv_metadata
from everpath.opm_render.templates import render_template
from tests.everpath.conformance.oracle import Oracle
from tests.everpath.conformance.random_bundles import random_bundle
from tests.everpath.conformance.random_templates import Case, basic_case, semver_case, substitutes_case
from tests.everpath.conformance.random_values import random_value
from tests.everpath.conformance.whole_bundles import bundle_folders, completed
from tests.support.everpath.rendered_catalogs import BUNDLE_REFUSALS, TEMPLATE_REFUSALS

pytestmark = pytest.mark.conformance

_CASES: Final = {"basic": basic_case, "semver": semver_case, "substitutes": substitutes_case}


def _document(body: Mapping[str, Any]) -> CatalogDocument:
    return CatalogDocument(Place("template.yaml"), body)


def _rendered(case: Case) -> str | OpmError:
    def render(image: str) -> RenderedBundle:
        if image not in case.bundles:
            raise OpmError(f"no image {image}")
        blob = decode_blob(_document(case.bundles[image]))
        return RenderedBundle(blob, embedded_csv(blob))

    try:
        blobs = render_template(_document(case.template), render, rejection_reason)
    except OpmError as refusal:
        return refusal
    return "".join(catalog_text(blobs, "json"))


@pytest.mark.parametrize("kind", _CASES)
def test_templates_are_rendered_as_by_opm(
    oracle: Oracle, kind: str, record_property: Callable[[str, object], None]
) -> None:
    random = Random(kind)
    cases = [_CASES[kind](random) for _ in range(3000)]
    questions = (
        {
            "ask": "template",
            "type": case.kind,
            "text": json.dumps(case.template),
            "bundles": {image: json.dumps(blob) for image, blob in case.bundles.items()},
        }
        for case in cases
    )
    counts: Counter[str] = Counter()
    for case, answer in zip(cases, oracle.ask_many(questions), strict=True):
        ours = _rendered(case)
        if answer["ok"]:
            assert ours == answer.get("catalog", ""), case
            counts["rendered"] += 1
        else:
            assert isinstance(ours, OpmError), (case, answer)
            counts["refused"] += 1
    record_property(
        "counted",
        f"{kind} templates: {counts['rendered']} rendered byte for byte, {counts['refused']} refused by both",
    )
    assert min(counts["rendered"], counts["refused"]) > 300


_IMAGE: Final = "registry.example/{{.Package}}:v{{.Version}}"
_MIGRATION: Final = "bundle-object-to-csv-metadata"


def _question(folder: Path, output: str, level: str) -> dict[str, object]:
    image = _IMAGE if level else ""
    return {"ask": "render", "folders": [str(folder)], "output": output, "migrate": level, "image": image}


def _folder_rendered(folder: Path, output: str, level: str) -> str | OpmError:
    try:
        contents = load_bundle_contents(str(folder))
        rendered = render_bundle(contents, expand_image_template(contents, _IMAGE) if level else "")
        return "".join(
            catalog_text([(migrate_to_csv_metadata(rendered) if level else rendered).blob], output)
        )
    except OpmError as refusal:
        return refusal


def _without_ties(text: str) -> object:
    """Sort images with the same reference, which opm orders at random."""
    blob = json.loads(text)
    blob.get("relatedImages", []).sort(key=lambda related: (related["image"], related["name"]))
    return blob


@pytest.mark.corpus
def test_bundles_of_operatorhub_are_rendered_as_by_opm(
    oracle: Oracle, operatorhub: Path, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    folders = bundle_folders(operatorhub / "operators")[::97]
    counts: Counter[str] = Counter()
    for number, folder in enumerate(folders):
        whole = completed(folder, tmp_path / str(number))
        for level in ("", _MIGRATION):
            text = oracle.ask(_question(whole, "json", level))["text"]
            ours = _folder_rendered(whole, "json", level)
            assert isinstance(ours, str), (folder, ours)
            assert _without_ties(ours) == _without_ties(text), folder
            counts["equal"] += ours == text
            counts["all"] += 1
    record_property(
        "counted", f"OperatorHub's bundles rendered: {counts['all']}, {counts['equal']} of them byte for byte"
    )
    assert counts["all"] > 150
    assert counts["equal"] >= counts["all"] * 0.95


@pytest.mark.parametrize(("output", "level"), [("json", ""), ("json", _MIGRATION), ("yaml", _MIGRATION)])
def test_random_bundles_are_rendered_as_by_opm(
    oracle: Oracle, tmp_path: Path, output: str, level: str, record_property: Callable[[str, object], None]
) -> None:
    random = Random(f"{output} {level}")
    counts: Counter[str] = Counter()
    for number in range(400):
        folder = _laid_out(random_bundle(random), tmp_path / str(number))
        answer = oracle.ask(_question(folder, output, level))
        ours = _folder_rendered(folder, output, level)
        if answer["ok"]:
            assert ours == answer.get("text", ""), folder
            counts["rendered"] += 1
        else:
            assert isinstance(ours, OpmError), (folder, answer)
            counts["refused"] += 1
    what = f"random bundles as {output}{' with metadata' if level else ''}"
    record_property(
        "counted", f"{what}: {counts['rendered']} rendered byte for byte, {counts['refused']} refused by both"
    )
    assert min(counts.values()) > 80


def _laid_out(files: Mapping[str, str], folder: Path) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_any_text_is_written_as_opm_writes_it(
    oracle: Oracle, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    random = Random("texts")
    documents = [{"schema": "custom.thing", "value": random_value(random)} for _ in range(1000)]
    folders = [_laid_out({"c.json": json.dumps(d)}, tmp_path / str(n)) for n, d in enumerate(documents)]
    for output in ("yaml", "json"):
        questions = ({"ask": "render", "folders": [str(folder)], "output": output} for folder in folders)
        for document, answer in zip(documents, oracle.ask_many(questions), strict=True):
            ours = "".join(catalog_text([decode_blob(_document(document))], output))
            assert ours == answer["text"], document
    record_property(
        "counted", f"documents of odd texts and numbers: {len(documents)} written byte for byte, twice"
    )


def test_the_table_of_structs_is_that_of_the_real_types(oracle: Oracle) -> None:
    types = oracle.ask({"ask": "types"})["types"]
    assert {name: {f"{key} {kind}" for key, kind in fields.items()} for name, fields in STRUCTS.items()} == {
        name: set(fields) for name, fields in types.items()
    }


def test_catalog_is_rendered_again_as_by_opm(
    oracle: Oracle, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    random = Random("again")
    counts: Counter[str] = Counter()
    for number in range(300):
        case = basic_case(random)
        entries = case.template["entries"]
        blobs: list[Blob] = [
            b for b in entries or () if isinstance(b, dict) and b.get("schema") != "olm.bundle"
        ]
        blobs += map(dict, case.bundles.values())
        folder = _laid_out({"catalog.json": "\n".join(map(json.dumps, blobs))}, tmp_path / str(number))
        answer = oracle.ask({"ask": "render", "folders": [str(folder)], "output": "json"})
        try:
            ours = "".join(catalog_text(map(normalize_bundle, load_blobs(str(folder), Sources())), "json"))
        except OpmError:
            assert not answer["ok"], blobs
            counts["refused"] += 1
        else:
            kept = [
                b
                for b in map(decode_blob, map(_document, blobs))
                if blob_package(b) or b["schema"] == "custom.thing"
            ]
            if len(kept) == len(blobs):
                assert answer["ok"], answer
                assert _sorted(ours) == _sorted(answer["text"])
                counts["rendered"] += 1
    record_property(
        "counted", f"catalogs again: {counts['rendered']} rendered, {counts['refused']} refused by both"
    )
    assert min(counts.values()) > 30


def _sorted(text: str) -> list[str]:
    """Sort bundles with the same name, which opm orders at random."""
    return sorted(text.split("\n}\n"))


@pytest.mark.parametrize("name", BUNDLE_REFUSALS)
def test_opm_rejects_the_same_bundles(oracle: Oracle, tmp_path: Path, name: str) -> None:
    case = BUNDLE_REFUSALS[name]
    answer = oracle.ask(_question(_laid_out(case.files, tmp_path / "b"), "json", ""))
    assert case.opm_message in answer["error"]


@pytest.mark.parametrize("name", TEMPLATE_REFUSALS)
def test_opm_rejects_the_same_templates(oracle: Oracle, name: str) -> None:
    case = TEMPLATE_REFUSALS[name]
    bundles = {blob["image"]: json.dumps(blob) for blob in case.bundles}
    question = {"ask": "template", "type": case.kind, "text": json.dumps(case.body), "bundles": bundles}
    assert case.opm_message in oracle.ask(question)["error"]
