"""Migration keeps every upgrade path."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.loaders.catalog_loader import load
from everpath.loaders.packagemanifest.migration import Migration
from everpath.model import Catalog
from tests.support.everpath.bundles import annotations_yaml, csv, write
from tests.support.everpath.package_manifests import package_file, walks
from tests.support.tiers import examples

_VERSIONS = ("0.1.0", "0.9.0", "0.10.0", "1.0.0-rc.1", "1.0.0", "1.0.1")
_NAMES = tuple(f"op.v{version}" for version in _VERSIONS)
_RANGES = ("<1.0.0", ">=0.9.0 <1.0.1", "nonsense")


@st.composite
def csvs(draw: st.DrawFn) -> dict[str, str]:
    """Return CSVs with any edges, by name; edges may refer to names that do not exist."""
    found = {}
    for name in draw(st.lists(st.sampled_from(_NAMES), min_size=1, unique=True)):
        others = st.sampled_from([*_NAMES, "op.v0.0.1"])
        replaces = draw(st.none() | others)
        skips = draw(st.lists(others, max_size=2, unique=True))
        skip_range = draw(st.none() | st.sampled_from(_RANGES))
        notes = {"olm.skipRange": skip_range} if skip_range else None
        spec = {"replaces": replaces} if replaces else {}
        found[name] = csv(name, notes=notes, **spec, **({"skips": skips} if skips else {}))
    return found


@settings(max_examples=examples(80))
@given(csvs(), st.data())
def test_package_manifests(found: dict[str, str], data: st.DataObject) -> None:
    heads = data.draw(st.lists(st.sampled_from(sorted(found)), min_size=1, max_size=3))
    channels = {f"c{number}": head for number, head in enumerate(heads)}
    files = {"op.package.yaml": package_file("c0", **channels)}
    is_flat = data.draw(st.booleans())
    for number, (name, text) in enumerate(found.items()):
        files[f"{name}.yaml" if is_flat else f"{number}/csv.yaml"] = text
    _check(files)


@settings(max_examples=examples(80))
@given(csvs(), st.sampled_from(["replaces-mode", "semver-mode", "semver-skippatch"]), st.data())
def test_bundles_of_a_repository(found: dict[str, str], mode: str, data: st.DataObject) -> None:
    files = {"ci.yaml": f"updateGraph: {mode}\n"}
    for name, text in found.items():
        channels = ",".join(sorted(data.draw(st.sets(st.sampled_from(["a", "b"]), min_size=1))))
        files[f"{name}/manifests/csv.clusterserviceversion.yaml"] = text
        files[f"{name}/metadata/annotations.yaml"] = annotations_yaml("op", channels, channels[0])
    _check(files)


def _check(files: dict[str, str]) -> None:
    with TemporaryDirectory() as root:
        source = write(Path(root, "op"), files)
        before = load(str(source)).catalog
        (package,) = before.packages
        migration = Migration(str(source)).migrate_package(package)
        out = write(Path(root, "out"), migration.files)
        after = load(str(out / "catalog")).catalog
        assert walks(after) == walks(before)
        assert _released(after) == {entry.name for c in package.channels for entry in c.entries}


def _released(catalog: Catalog) -> set[str]:
    (package,) = catalog.packages
    return set(package.by_name)
