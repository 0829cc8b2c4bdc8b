"""Input that opm rejects to render is refused with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everpath.app.opm_validate import rejection_reason
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.fbc.catalog_writer import OUTPUT_FORMATS, catalog_text
from everpath.model import OpmError, Place
from everpath.opm_render import render_bundle
from everpath.opm_render.blobs import CatalogDocument, decode_blob
from everpath.opm_render.templates import render_template
from tests.support.everpath.bundles import write
from tests.support.everpath.rendered_catalogs import (
    BUNDLE_REFUSALS,
    TEMPLATE_REFUSALS,
    bundle_files,
    image_renderer,
    template,
)


@pytest.mark.parametrize("name", BUNDLE_REFUSALS)
def test_a_bundle_that_opm_rejects_is_refused(tmp_path: Path, name: str) -> None:
    case = BUNDLE_REFUSALS[name]
    with pytest.raises(OpmError) as caught:
        render_bundle(load_bundle_contents(str(write(tmp_path / "b", case.files))))
    assert case.message in caught.value.message
    assert caught.value.place.pointer == case.pointer


@pytest.mark.parametrize("name", TEMPLATE_REFUSALS)
def test_a_template_that_opm_rejects_is_refused(name: str) -> None:
    case = TEMPLATE_REFUSALS[name]
    with pytest.raises(OpmError) as caught:
        render_template(template(case.body), image_renderer(*case.bundles), rejection_reason)
    assert case.message in caught.value.message
    assert caught.value.place.pointer == case.pointer


def test_a_template_with_an_unknown_schema_is_refused() -> None:
    with pytest.raises(OpmError, match=r"'olm\.composite' is not the schema of a template"):
        render_template(template({"schema": "olm.composite"}), image_renderer(), rejection_reason)


def test_a_bundle_without_a_package_is_refused(tmp_path: Path) -> None:
    channels = {"operators.operatorframework.io.bundle.channels.v1": "stable"}
    folder = write(tmp_path / "b", bundle_files(annotations=channels))
    with pytest.raises(OpmError, match="do not state the package"):
        render_bundle(load_bundle_contents(str(folder)))


def nest(depth: int) -> Any:
    value: Any = "end"
    for _ in range(depth):
        value = {"properties": value}
    return value


def test_a_document_of_more_than_400_levels_is_refused(tmp_path: Path) -> None:
    for depth in (380, 490):
        files = bundle_files(csv=None, crd={"kind": "Thing", "spec": nest(depth)})
        contents = load_bundle_contents(str(write(tmp_path / str(depth), files)))
        catalog = CatalogDocument(Place("c.yaml"), {"schema": "custom.thing", "value": nest(depth)})
        if depth < 400:
            blobs = [render_bundle(contents).blob, decode_blob(catalog)]
            assert all("".join(catalog_text(blobs, output)) for output in OUTPUT_FORMATS)
            continue
        with pytest.raises(OpmError, match="nested deeper than 400"):
            render_bundle(contents)
        with pytest.raises(OpmError, match="nested deeper than 400"):
            decode_blob(catalog)


def test_a_properties_annotation_of_more_than_400_levels_is_refused(tmp_path: Path) -> None:
    text = json.dumps([{"type": "t", "value": nest(450)}])
    metadata = {"name": "op.v1.0.0", "annotations": {"olm.properties": text}}
    csv = {"kind": "ClusterServiceVersion", "metadata": metadata, "spec": {"version": "1.0.0"}}
    with pytest.raises(OpmError, match="nested deeper than 400"):
        render_bundle(load_bundle_contents(str(write(tmp_path / "b", bundle_files(csv=csv)))))
