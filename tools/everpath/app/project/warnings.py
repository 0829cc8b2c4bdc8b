"""Warnings about generated files: what no rule forbids and is still likely a mistake."""

from __future__ import annotations

__all__ = ["generate_warnings", "rewritten_bundles"]

from collections.abc import Iterator

from everpath.app.project.bundles import find_csv
from everpath.app.project.generate import GeneratedFiles
from everpath.app.project.project import Files, format_position
from everpath.comparison import compare
from everpath.loaders.catalog_loader import load
from everpath.loaders.releases.bundle_digests import bundle_digest, read_files
from everpath.model import Catalog
from everpath.releases.channel_edges import catalog_package


def generate_warnings(files: GeneratedFiles) -> list[str]:
    """Return all warnings, each once. Cost: every bundle is loaded again."""
    warnings = [*_empty_variants(files)]
    if files.new_bundles:
        warnings += rewritten_bundles(files)
        warnings += _missing_bundle_image(files)
        warnings += _operator_image(files)
        warnings += _edges_of_csvs(files)
    return list(dict.fromkeys(warnings))


def rewritten_bundles(files: GeneratedFiles) -> Iterator[str]:
    """Warn of bundles that change although a later release exists: they may be published already."""
    project = files.project
    for release in project.source.releases[:-1]:
        folder = project.bundle_folder(release)
        old = read_files(folder) if folder in files.new_bundles else {}
        if old and old != files.bundles[folder]:
            yield (
                f"{project.position(release, 'version')}: the bundle of {release.version} changes, although "
                "it is not the newest release; it has no `bundle:` digest. If it is published, restore it "
                f"with git restore {folder} and add `bundle: {bundle_digest(old)}`"
            )


def _empty_variants(files: GeneratedFiles) -> Iterator[str]:
    project = files.project
    for variant in project.source.catalogs if project.source.releases else ():
        if not catalog_package(project.source, variant).channels:
            position = format_position(variant.place, project.sources)
            yield f"{position}: no release is in the catalog {variant.name!r}; it is not written"


def _missing_bundle_image(files: GeneratedFiles) -> Iterator[str]:
    project = files.project
    new = [r for r in project.source.releases if project.bundle_folder(r) in files.new_bundles]
    if not all(map(project.bundle_image, new)):
        yield (
            f"{project.file} has no `image:`, so the catalog contains the manifests of the bundle instead of "
            "its image. OLM v1 cannot install such a bundle"
        )


def _operator_image(files: GeneratedFiles) -> Iterator[str]:
    """Warn if the newest release has an image that is incomplete or mutable, or that of the last release."""
    project = files.project
    if (
        not project.source.releases
        or project.bundle_folder(project.source.releases[-1]) not in files.new_bundles
    ):
        return
    *_, previous, newest = None, *project.source.releases
    assert newest is not None
    image = _container_image(files.bundles[project.bundle_folder(newest)])
    if not image:
        return
    if fault := _image_fault(image):
        yield f"the operator's image is {image}, which {fault}: declare it under `images:` of {project.file}"
    elif previous and _container_image(files.bundles[project.bundle_folder(previous)]) == image:
        yield (
            f"{newest.version} has the same operator image as {previous.version}, {image}. An image without "
            f"a tag under `images:` of {project.file} gets the tag of each release"
        )


def _image_fault(image: str) -> str | None:
    registry, slash, _ = image.partition("/")
    if not slash or not (set(".:") & set(registry) or registry == "localhost"):
        return "has no registry"
    name = image.rpartition("/")[2]
    if "@" not in name and name.partition(":")[2] in ("", "latest"):
        return "has no fixed tag"
    return None


def _container_image(files: Files) -> str:
    csv = find_csv(files)
    return str(csv.annotations.get("containerImage") or "") if csv else ""


def _edges_of_csvs(files: GeneratedFiles) -> Iterator[str]:
    """Warn if the edges of the CSVs strand a version that those of the catalog do not."""
    project = files.project
    if not all(files.bundles.values()):
        return
    for path in (project.bundles / "ci.yaml", project.bundles / "ci.yml"):
        if path in files.transaction.files or path.exists():
            files.scratch.add_beside_bundles(path, files.transaction.files.get(path) or path.read_bytes())
    catalog = Catalog("catalog", (catalog_package(project.source),))
    if compare(catalog, load(files.scratch.repository).catalog).regressions:
        yield (
            "as an operators repository, without the catalog, the bundles strand installed versions: a CSV "
            "has the same edges in all channels. OLM uses the edges of the catalog. To list the versions: "
            f"`everpath compare {project.folder} {project.bundles.parent}`"
        )
