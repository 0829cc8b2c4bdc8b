"""A large input is linted in partitions; the report is the same."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.loaders.partition import Partition

ITEMS = st.lists(st.tuples(st.sampled_from("abcdefgh"), st.integers(0, 50)))
COUNTS = st.integers(1, 5)


def parted(items: list[tuple[str, int]], count: int) -> list[list[tuple[str, int]]]:
    return [
        Partition(number, count).select(items, folder=lambda item: item[0], weight=lambda item: item[1])
        for number in range(count)
    ]


@given(ITEMS, COUNTS)
def test_every_item_is_in_one_partition_and_in_order(items: list[tuple[str, int]], count: int) -> None:
    numbered = [(folder, number) for number, (folder, _) in enumerate(items)]
    parts = parted(numbered, count)
    assert sorted(item for part in parts for item in part) == sorted(numbered)
    assert all(part == sorted(part, key=lambda item: item[1]) for part in parts)


@given(ITEMS, COUNTS)
def test_folder_is_never_split(items: list[tuple[str, int]], count: int) -> None:
    folders = [{folder for folder, _ in part} for part in parted(items, count)]
    assert sum(map(len, folders)) == len(set().union(*folders))


@given(ITEMS, COUNTS)
def test_partitions_differ_by_at_most_the_largest_folder(items: list[tuple[str, int]], count: int) -> None:
    weights: dict[str, int] = {}
    for folder, weight in items:
        weights[folder] = weights.get(folder, 0) + weight
    loads = [sum(weight for _, weight in part) for part in parted(items, count)]
    assert max(loads) - min(loads) <= max(weights.values(), default=0)


PACKAGE = "schema: olm.package\nname: {0}\ndefaultChannel: stable\n---\n"
CHANNEL = (
    "schema: olm.channel\npackage: {0}\nname: stable\nentries: [{{name: {0}.v1}}, {{name: {0}.v2}}]\n---\n"
)
BUNDLES = "".join(
    f"""\
schema: olm.bundle
package: {{0}}
name: {{0}}.v{number}
image: quay.io/me/{{0}}:v{number}
properties: [{{{{type: olm.package, value: {{{{packageName: {{0}}, version: {number}.0.0}}}}}}}}]
---
"""
    for number in (1, 2)
)
WHOLE_PACKAGE = PACKAGE + CHANNEL + BUNDLES


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def validated(root: Path, jobs: int, *options: str) -> tuple[int, dict[str, Any], str]:
    """Run in a separate process, because it forks."""
    typed = ["validate-graph", str(root), "--no-config", "-o", "json", "-j", str(jobs), *options]
    done = subprocess.run(
        [sys.executable, "-m", "everpath", *typed], capture_output=True, text=True, check=False
    )
    return done.returncode, json.loads(done.stdout) if done.stdout else {}, done.stderr


CATALOGS = {
    "a package in each folder": {f"{p}/catalog.yaml": WHOLE_PACKAGE.format(p) for p in "abcde"},
    "a package in two folders": {
        "a/catalog.yaml": WHOLE_PACKAGE.format("a"),
        "channels/b.yaml": PACKAGE.format("b") + CHANNEL.format("b"),
        "bundles/b.yaml": BUNDLES.format("b"),
    },
    "a package without a declaration, whose name is similar to another": {
        "a/catalog.yaml": WHOLE_PACKAGE.format("cache-operator"),
        "b/catalog.yaml": BUNDLES.format("cache-operater") + CHANNEL.format("cache-operater"),
    },
    "a document that cannot be read": {
        "a/catalog.yaml": WHOLE_PACKAGE.format("a"),
        "b/catalog.yaml": "schema: [",
    },
    "one file": {"catalog.yaml": WHOLE_PACKAGE.format("a")},
}


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", CATALOGS)
@pytest.mark.parametrize("jobs", [2, 3, 9])
def test_the_report_is_the_same_with_any_number_of_processes(tmp_path: Path, name: str, jobs: int) -> None:
    root = write(tmp_path, CATALOGS[name])
    alone = validated(root, 1)
    assert alone[1]["findings"], "a report without findings proves nothing"
    assert validated(root, jobs) == alone


def test_empty_folder_has_the_same_error(tmp_path: Path) -> None:
    alone = validated(tmp_path, 1)
    assert alone[0] == 3
    assert validated(tmp_path, 2) == alone


@pytest.mark.exhaustive
def test_name_of_any_partition_can_be_selected(tmp_path: Path) -> None:
    root = write(tmp_path, CATALOGS["a package in each folder"])
    for package in "abcde":
        code, report, _ = validated(root, 3, "-p", package)
        assert code == 1
        assert {finding["package"] for finding in report["findings"]} == {package}
    assert validated(root, 3, "-p", "f")[0] == 2
