"""OperatorHub.io, loaded as its pipeline does."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from everpath.loaders.bundle import annotations as metadata
from everpath.loaders.bundle.csv_summary import scan_csv, summarize_parsed_csv
from everpath.model import Catalog, Channel
from everpath.parsing.first_document import first_document
from everpath.parsing.yaml_outline import UnsupportedLayout
from tests.support.everpath.bundles import problems, read_packages

pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module")
def catalog(operatorhub: Path) -> Catalog:
    return read_packages(operatorhub)


def _entries(channel: Channel) -> list[dict[str, Any]]:
    """As the reference writes them: an empty skipRange, which three CSVs have, is left out there."""
    return [
        {
            key: value
            for key, value in (
                ("name", entry.name),
                ("replaces", entry.replaces),
                ("skips", list(entry.skips)),
                ("skipRange", entry.skip_range),
            )
            if value
        }
        for entry in channel.entries
    ]


def _documents(catalog: Catalog) -> Iterator[dict[str, Any]]:
    """The catalog as the reference has it: of properties only olm.package, and no images."""
    for package in catalog.packages:
        yield {"schema": "olm.package", "name": package.name, "defaultChannel": package.default_channel}
        for channel in package.channels:
            name = {"schema": "olm.channel", "package": package.name, "name": channel.name}
            yield {**name, "entries": _entries(channel)}
        for bundle in package.bundles:
            yield {
                "schema": "olm.bundle",
                "package": package.name,
                "name": bundle.name,
                "properties": [
                    {"type": p.type, "value": p.value} for p in bundle.properties_of("olm.package")
                ],
            }


def _by_name(documents: Iterator[dict[str, Any]]) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(d["schema"], d.get("package", ""), d["name"]): d for d in documents}


def test_every_channel_and_edge_is_that_of_the_reference_graph(corpus: Path, catalog: Catalog) -> None:
    with gzip.open(corpus / "corpus-k8s-graph.json.gz", "rt") as lines:
        reference = _by_name(json.loads(line) for line in lines)
    for document in reference.values():
        document.pop("image", None)
    ours = _by_name(_documents(catalog))
    assert Counter(key[0] for key in ours) == {"olm.package": 447, "olm.channel": 706, "olm.bundle": 7722}
    assert sum(len(d["entries"]) for d in ours.values() if "entries" in d) == 9591
    assert [key for key in ours.keys() | reference.keys() if ours.get(key) != reference.get(key)] == []

    empty = [e for p in catalog.packages for c in p.channels for e in c.entries if e.skip_range == ""]
    assert len(empty) == 3
    modes = Counter(str(d.mode and d.mode.value) for p in catalog.packages for d in p.declarations)
    assert modes == {"replaces-mode": 243, "semver-mode": 203, "semver-skippatch": 1}
    assert sum(d.inferred for p in catalog.packages for d in p.declarations) == 85
    assert Counter(kind for kind, _ in problems(catalog)) == {
        "duplicate-key": 8,
        "unknown-update-mode": 1,
    }


def test_scan_of_every_csv_and_annotations_file_equals_the_parse(
    operatorhub: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts: Counter[str] = Counter()
    wrong = []
    for path in operatorhub.rglob("*.yaml"):
        name, content = path.name, path.read_bytes()
        if not name.endswith("annotations.yaml") and "clusterserviceversion" not in name:
            continue
        kind = "annotations" if name.endswith("annotations.yaml") else "csvs"
        counts[kind] += 1
        document = first_document(content)
        try:
            if kind == "csvs":
                is_right = scan_csv(content) == summarize_parsed_csv(document.value, document.duplicate_keys)
            else:
                found = metadata.summarize_metadata(document.value, document.duplicate_keys)
                is_right = metadata.Metadata(metadata.scan_annotations(content)) == found
        except UnsupportedLayout:
            counts[f"{kind} left to the parser"] += 1
            continue
        if not is_right:
            wrong.append(path)
    with capsys.disabled():
        print(f"\n{dict(counts)}")  # noqa: T201 - how much a glance is worth
    assert wrong == []
    assert (counts["csvs"], counts["annotations"]) == (7722, 7714)
    assert counts["csvs left to the parser"] <= 77
