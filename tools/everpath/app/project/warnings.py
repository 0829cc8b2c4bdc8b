"""Warnings about generated files: what no rule forbids and is still likely a mistake."""

from __future__ import annotations

__all__ = ["generate_warnings", "rewritten_bundle_warnings"]

from collections.abc import Iterator

from everpath.app.project.bundles import find_csv
from everpath.app.project.generated_files import GeneratedFiles
from everpath.app.project.project import Files
from everpath.comparison import compare
from everpath.loaders.catalog_loader import load
from everpath.loaders.releases.bundle_digests import bundle_digest, read_files
from everpath.loaders.source_positions import format_position
from everpath.model import Catalog
from everpath.releases.channel_edges import catalog_package


def generate_warnings(files: GeneratedFiles) -> list[str]:
    """Return all warnings, each once. Cost: every bundle is loaded again."""
    warnings = [*_empty_catalog_warnings(files)]
    if files.new_bundles:
        warnings += rewritten_bundle_warnings(files)
        warnings += _bundle_image_warnings(files)
        warnings += _operator_image_warnings(files)
        warnings += _csv_edge_warnings(files)
    return list(dict.fromkeys(warnings))


def rewritten_bundle_warnings(files: GeneratedFiles) -> Iterator[str]:
    """Yield a warning for each bundle that changes although it is not the newest: it may be published."""
    project = files.project
    for release in project.releases_file.releases[:-1]:
        folder = project.bundle_folder(release)
        old = read_files(folder) if folder in files.new_bundles else {}
        if old and old != files.bundles[folder]:
            yield (
                f"{project.position(release, 'version')}: the bundle of {release.version} changes, although "
                "it is not the newest release; it has no `bundle:` digest. If it is published, restore it "
                f"with git restore {folder} and add `bundle: {bundle_digest(old)}`"
            )


def _empty_catalog_warnings(files: GeneratedFiles) -> Iterator[str]:
    project = files.project
    for variant in project.releases_file.catalogs if project.releases_file.releases else ():
        if not catalog_package(project.releases_file, variant).channels:
            position = format_position(variant.place, project.sources)
            yield f"{position}: no release is in the catalog {variant.name!r}; it is not written"


def _bundle_image_warnings(files: GeneratedFiles) -> Iterator[str]:
    project = files.project
    new = [r for r in project.releases_file.releases if project.bundle_folder(r) in files.new_bundles]
    if not all(map(project.bundle_image, new)):
        yield (
            f"{project.file} has no `image:`, so the catalog contains the manifests of the bundle instead of "
            "its image. OLM v1 cannot install such a bundle"
        )


def _operator_image_warnings(files: GeneratedFiles) -> Iterator[str]:
    """Yield a warning if the newest release has an incomplete or mutable image, or that of the last one."""
    project = files.project
    if (
        not project.releases_file.releases
        or project.bundle_folder(project.releases_file.releases[-1]) not in files.new_bundles
    ):
        return
    *_, previous, newest = None, *project.releases_file.releases
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


def _csv_edge_warnings(files: GeneratedFiles) -> Iterator[str]:
    """Yield a warning if the edges of the CSVs strand a version that those of the catalog do not."""
    project = files.project
    if not all(files.bundles.values()):
        return
    for path in (project.bundles / "ci.yaml", project.bundles / "ci.yml"):
        if path in files.transaction.files or path.exists():
            files.scratch.add_beside_bundles(path, files.transaction.files.get(path) or path.read_bytes())
    catalog = Catalog("catalog", (catalog_package(project.releases_file),))
    if compare(catalog, load(files.scratch.repository).catalog).regression_count:
        yield (
            "as an operators repository, without the catalog, the bundles strand installed versions: a CSV "
            "has the same edges in all channels. OLM uses the edges of the catalog. To list the versions: "
            f"`everpath compare {project.folder} {project.bundles.parent}`"
        )
