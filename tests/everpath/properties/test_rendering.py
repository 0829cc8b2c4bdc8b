"""Properties of rendering: output parses to the same documents, and rendering it again changes nothing."""

from __future__ import annotations

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from everpath.go_types import STRUCTS, type_mismatches
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.fbc.blobs import load_blobs
from everpath.loaders.fbc.catalog_writer import OUTPUT_FORMATS, catalog_text
from everpath.loaders.sources import STANDARD_INPUT, Sources
from everpath.model import OpmError, Place
from everpath.opm_render import Blob, render_bundle
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.csv_metadata import migrate_to_csv_metadata
from everpath.opm_render.go_json import json_text
from everpath.parsing import yaml_parser
from everpath.parsing.yaml_writer import yaml_text
from tests.support.everpath.bundles import write
from tests.support.everpath.rendered_catalogs import bundle_files

# A lone surrogate is no character, and YAML readers differ about NEL.
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\x85"))
FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number or 0)
NUMBERS = st.integers(-(2**53), 2**53) | FLOATS
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
NAMES = st.text("abc.", min_size=1, max_size=5)
ENTRIES = st.fixed_dictionaries(
    {"name": NAMES}, optional={"replaces": NAMES, "skips": st.lists(NAMES, max_size=3), "skipRange": NAMES}
)
DOCUMENTS = st.one_of(
    st.fixed_dictionaries(
        {
            "schema": st.just("olm.channel"),
            "name": NAMES,
            "package": NAMES,
            "entries": st.lists(ENTRIES, max_size=3),
        }
    ),
    st.fixed_dictionaries(
        {"schema": st.just("olm.package"), "name": NAMES, "defaultChannel": NAMES},
        optional={"description": TEXTS, "properties": st.just([{"type": "t", "value": 1.5}])},
    ),
    st.fixed_dictionaries({"schema": st.just("custom.thing"), "value": VALUES}, optional={"package": NAMES}),
)


def blobs_of(documents: list[dict[str, Any]]) -> list[Blob]:
    return [decode_blob(CatalogDocument(Place("c.yaml"), document)) for document in documents]


def same(one: object, other: object) -> bool:
    """Return whether values are equal as JSON: 1.0 equals 1, true does not."""
    return json_text(one) == json_text(other)


@given(VALUES)
def test_yaml_output_parses_to_the_same_documents(value: Any) -> None:
    assert same(yaml_parser.load(yaml_text({"value": value}).encode()), {"value": _in_order(value)})


def _in_order(value: Any) -> Any:
    """YAML has the keys in its own order."""
    if isinstance(value, dict):
        keys = yaml_parser.load(yaml_text(dict.fromkeys(value)).encode())
        return {key: _in_order(value[key]) for key in keys}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


@given(VALUES)
def test_json_output_parses_to_the_same_documents(value: Any) -> None:
    assert same(json.load(io.StringIO(json_text(value, indent="  ", html=True))), value)


@given(st.lists(DOCUMENTS, min_size=1, max_size=5))
def test_a_catalog_that_is_rendered_again_stays_the_same(documents: list[dict[str, Any]]) -> None:
    for output in OUTPUT_FORMATS:
        text = "".join(catalog_text(blobs_of(documents), output))
        sources = Sources()
        sources.add_content(STANDARD_INPUT, text.encode())
        assert "".join(catalog_text(load_blobs(STANDARD_INPUT, sources), output)) == text


@given(st.lists(DOCUMENTS, min_size=1, max_size=5), st.randoms())
def test_the_order_of_documents_of_different_names_does_not_matter(
    documents: list[dict[str, Any]], random: Any
) -> None:
    known = {
        (d["schema"], d.get("name"), d.get("package")): d for d in documents if d["schema"] != "custom.thing"
    }
    shuffled = list(known.values())
    random.shuffle(shuffled)
    texts = {"".join(catalog_text(blobs_of(order), "yaml")) for order in (list(known.values()), shuffled)}
    assert len(texts) == 1


def refusal(root: Path) -> OpmError | None:
    try:
        migrate_to_csv_metadata(render_bundle(load_bundle_contents(str(root)), "op:1"))
    except OpmError as refused:
        return refused
    return None


@given(VALUES)
def test_any_value_anywhere_in_a_bundle_is_rendered_or_refused_with_a_reason(value: Any) -> None:
    with TemporaryDirectory() as folder:
        csv = write(Path(folder) / "csv", bundle_files(install=value, relatedImages=value))
        crd = write(Path(folder) / "crd", bundle_files(crd=value))
        found = [(refused, root) for root in (csv, crd) if (refused := refusal(root)) is not None]
    assert all(refused.message and refused.place.file.startswith(str(root)) for refused, root in found)


@given(
    st.binary(max_size=200),
    st.sampled_from(("manifests/x.yaml", "metadata/annotations.yaml", "metadata/p.yaml")),
)
def test_any_bytes_in_a_bundle_are_read_or_a_problem(data: bytes, name: str) -> None:
    with TemporaryDirectory() as folder:
        root = write(Path(folder), {**bundle_files(), name: data})
        found = load_bundle_contents(str(root))
    assert found.csv is not None
    assert all(problem.message for problem in found.problems)


@given(st.sampled_from(sorted(STRUCTS)), VALUES)
def test_null_fits_every_struct_and_other_values_fit_or_not(struct: str, value: Any) -> None:
    assert list(type_mismatches(None, struct)) == []
    for mismatch in type_mismatches({"spec": value, "name": value}, struct):
        assert mismatch.path[0] in ("spec", "name")
