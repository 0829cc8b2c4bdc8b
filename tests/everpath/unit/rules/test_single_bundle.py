"""The folder of a single bundle: other releases of the package are unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from everpath.rules.findings import Severity
from tests.support.everpath.bundles import PACKAGE, read_bundle, read_packages, write_bundle
from tests.support.everpath.graphs import parse_report

KEY = f"{PACKAGE}channel.default.v1"


def test_fix_keeps_replaces_of_a_single_bundle(tmp_path: Path) -> None:
    write_bundle(tmp_path, "op.v1.1.0", replaces="op.v1.0.0")
    (finding,) = parse_report(read_bundle(tmp_path), "EP212")
    assert finding.severity is Severity.NOTE
    assert finding.fix == (
        "no action if v1.0.0 was released: only this folder was read; validate the package's folder"
    )


def test_fix_keeps_the_range_of_a_single_bundle(tmp_path: Path) -> None:
    write_bundle(tmp_path, "op.v1.1.0", notes={"olm.skipRange": "<1.0.0"})
    (finding,) = parse_report(read_bundle(tmp_path), "EP307")
    assert finding.fix == "no action: only this folder was read, and the releases it covers are in others"


def test_fix_for_a_single_bundle_has_key_and_file(tmp_path: Path) -> None:
    write_bundle(tmp_path, channels="fast,stable")
    (finding,) = parse_report(read_bundle(tmp_path), "EP103")
    assert finding.severity is Severity.WARNING
    assert finding.fix == (
        f"set {KEY}: fast in metadata/annotations.yaml, unless another release of the package has one"
    )


def test_fix_for_a_package_of_bundles_has_key_and_file(tmp_path: Path) -> None:
    write_bundle(tmp_path / "op" / "1.0.0", channels="fast,stable")
    (finding,) = parse_report(read_packages(tmp_path), "EP103")
    assert finding.severity is Severity.ERROR
    assert finding.fix == f"set {KEY}: fast in metadata/annotations.yaml of the newest release"


@pytest.mark.parametrize("alone", [True, False])
def test_only_the_folder_of_a_bundle_is_one_release(tmp_path: Path, alone: bool) -> None:
    folder = write_bundle(tmp_path / "op" / "1.0.0")
    (package,) = (read_bundle(folder) if alone else read_packages(tmp_path)).packages
    assert package.is_single_bundle is alone
