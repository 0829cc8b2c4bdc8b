"""Nesting and flattening package manifests are inverse."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.loaders.packagemanifest.flatten import FileMoves, flatten_manifests, nest_manifests
from everpath.loaders.packagemanifest.package_folder import PackageFolder, load_package_folder
from everpath.versions import parse
from tests.support.everpath.bundles import csv, write
from tests.support.everpath.package_manifests import crd, owning, package_file, tree
from tests.support.tiers import examples

_VERSIONS = ("0.1.0", "0.9.0", "0.10.0", "1.0.0-rc.1", "1.0.0", "1.0.1", "2.0.0")
_CRDS = ("a.example.com", "b.example.com", "c.example.com")
_FOLDERS = ("x", "y", "z", "0", "9", "10", "w")


@st.composite
def folders_of_versions(draw: st.DrawFn) -> dict[str, str]:
    """Return nested package manifests: folders in any order, each with a CSV and the CRDs that it owns."""
    versions = draw(st.lists(st.sampled_from(_VERSIONS), min_size=1, unique=True))
    names = draw(st.permutations(_FOLDERS))
    files = {"op.package.yaml": package_file(stable=f"op.v{versions[0]}")}
    for version, name in zip(versions, names, strict=False):
        owned = draw(st.lists(st.sampled_from(_CRDS), unique=True))
        file = draw(st.sampled_from(["csv.yaml", f"{version}.yaml", "op.clusterserviceversion.yaml"]))
        files[f"{name}/{file}"] = csv(f"op.v{version}", **owning(*owned))
        for crd_name in owned:
            files[f"{name}/{crd_name}.yaml"] = crd(crd_name, version)
    return files


class _Aside:
    """Creates a folder for each step of an example."""

    def __init__(self, root: str) -> None:
        self._root = Path(root)
        self._numbers = count()

    def written(self, files: dict[str, str]) -> Path:
        folder = self._root / str(next(self._numbers))
        folder.mkdir()
        return write(folder, files)

    def moved(self, source: Path, how: str) -> Path:
        folder: PackageFolder = load_package_folder(str(source))
        moves: FileMoves = {"nest": nest_manifests, "flatten": flatten_manifests}[how](folder)
        target = self._root / str(next(self._numbers))
        return write(target, {name: folder.read(place) for name, place in moves.files.items()})


@settings(max_examples=examples(60))
@given(folders_of_versions())
def test_flattening_keeps_every_csv_and_the_newest_of_every_crd(files: dict[str, str]) -> None:
    with TemporaryDirectory() as root:
        aside = _Aside(root)
        before = aside.written(files)
        flat = tree(aside.moved(before, "flatten"))
    contents = {content.encode() for name, content in files.items() if "example.com" not in name}
    assert contents <= set(flat.values())
    shipped: dict[str, list[str]] = {}
    for name, content in files.items():
        if name.endswith("example.com.yaml"):
            shipped.setdefault(name.partition("/")[2], []).append(content)
    for name, rivals in shipped.items():
        newest = max(rivals, key=lambda text: parse(text.partition("note: ")[2].split()[0].strip("'")))
        assert flat[name] == newest.encode()


@settings(max_examples=examples(60))
@given(folders_of_versions())
def test_nesting_a_flat_folder_and_flattening_it_changes_nothing(files: dict[str, str]) -> None:
    with TemporaryDirectory() as root:
        aside = _Aside(root)
        flat = aside.moved(aside.written(files), "flatten")
        again = aside.moved(aside.moved(flat, "nest"), "flatten")
        assert tree(again) == tree(flat)


@settings(max_examples=examples(60))
@given(folders_of_versions())
def test_nesting_after_nesting_and_flattening_changes_nothing(files: dict[str, str]) -> None:
    with TemporaryDirectory() as root:
        aside = _Aside(root)
        once = aside.moved(aside.moved(aside.written(files), "flatten"), "nest")
        twice = aside.moved(aside.moved(once, "flatten"), "nest")
        assert tree(twice) == tree(once)
        assert tree(aside.moved(once, "nest")) == tree(once)
