"""What is right by every rule, and still hardly meant: told, and nothing is refused for it."""

from __future__ import annotations

__all__ = ["remarks", "tell_remarks", "tell_rewritten"]

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from everpath.app.project import Project, line_of
from everpath.cli.aside import folder_aside
from everpath.cli.making import Files, Made
from everpath.compare import compare
from everpath.loaders.catalog_loader import load
from everpath.loaders.releases.bundle_digests import bundle_digest, read_files
from everpath.model import Catalog, Place
from everpath.model.bundle_contents import CSV, Manifest
from everpath.parsing.first_document import first_document
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import Release
from everpath.reporters.formatting import printable


def tell_remarks(project: Project, made: Made) -> None:
    """Every remark once, as a warning."""
    _tell(remarks(project, made))


def tell_rewritten(project: Project, made: Made) -> None:
    """Also where nothing is written: whoever follows --check's advice should know what it rewrites."""
    _tell(_of_rewritten(project, made))


def _tell(remarks: Iterable[str]) -> None:
    for remark in dict.fromkeys(remarks):
        click.echo(f"warning: {printable(remark)}", err=True)


def remarks(project: Project, made: Made) -> Iterator[str]:
    """Of catalogs without a release, and of bundles that are made here. Cost: every bundle is read again."""
    yield from _of_variants(project)
    if not made.fresh:
        return
    yield from _of_rewritten(project, made)
    yield from _of_bundle_images(project, made)
    yield from _of_operator_images(project, made)
    yield from _of_edges(project, made)


def _of_variants(project: Project) -> Iterator[str]:
    for variant in project.source.catalogs if project.source.releases else ():
        if not catalog_package(project.source, variant).channels:
            where = line_of(variant.place, project.sources)
            yield f"{where}: no release is in the catalog {variant.name!r}, and it is not written"


def _fresh(project: Project, made: Made) -> list[Release]:
    return [r for r in project.source.releases if project.bundle_folder(r) in made.fresh]


def _of_rewritten(project: Project, made: Made) -> Iterator[str]:
    """Only the newest release may still change unnoticed: those before it are out, frozen or not."""
    for release in project.source.releases[:-1]:
        folder = project.bundle_folder(release)
        before = read_files(folder) if folder in made.fresh else {}
        if before and before != made.bundles[folder]:
            yield (
                f"{project.line_of(release, 'version')}: {release.version} is not the newest release, has no "
                f"`bundle:` digest, and its bundle becomes another: if it is out, git restore {folder}, and "
                f"give it `bundle: {bundle_digest(before)}`"
            )


def _of_bundle_images(project: Project, made: Made) -> Iterator[str]:
    if any(not project.image_of(release) for release in _fresh(project, made)):
        yield (
            f"{project.file} has no `image:`: the catalog names no image of the bundle and carries its "
            "manifests instead, from which OLM v1 installs nothing"
        )


def _of_operator_images(project: Project, made: Made) -> Iterator[str]:
    """A new release with the image of the last one is the last one, whatever its version says."""
    *_, before, last = None, *project.source.releases
    images = [_own_image(made.bundles[project.bundle_folder(r)]) if r else "" for r in (before, last)]
    if last is None or project.bundle_folder(last) not in made.fresh or not images[1]:
        return
    if fault := _fault(images[1]):
        told = f"the operator's image is {images[1]}, {fault}"
        yield f"{told}: say under `images:` of {project.file} what it is"
    elif before is not None and images[0] == images[1]:
        yield (
            f"{last.version} has the operator's image of {before.version}, {images[1]}: "
            f"an image without a tag under `images:` of {project.file} gets that of each release"
        )


def _fault(image: str) -> str | None:
    """Why an image is hardly the one that is meant."""
    registry, slash, _ = image.partition("/")
    if not slash or not (set(".:") & set(registry) or registry == "localhost"):
        return "in no registry"
    name = image.rpartition("/")[2]
    if "@" not in name and name.partition(":")[2] in ("", "latest"):
        return "which may be another tomorrow"
    return None


def _own_image(files: Files) -> str:
    """`containerImage` of a bundle's CSV; empty where there is none."""
    for name, content in sorted(files.items()):
        if name.startswith("manifests/") and CSV.encode() in content:
            body = first_document(content).value
            manifest = Manifest(Place(name), body if isinstance(body, dict) else {})
            if manifest.kind == CSV:
                return str(manifest.annotations.get("containerImage") or "")
    return ""


def _of_edges(project: Project, made: Made) -> Iterator[str]:
    """The catalog counts; but who reads the bundles themselves should be led as well by them."""
    if not all(made.bundles.values()):
        return
    with folder_aside() as folder:
        _write_repository(Path(folder, project.source.package), project, made)
        bundles = load(folder).catalog
        comparison = compare(Catalog("catalog", (catalog_package(project.source),)), bundles)
    if comparison.stranded:
        yield (
            "read without the catalog, as an operators repository, the bundles strand somebody: a CSV has "
            "one set of edges for all channels. The catalog counts; `everpath compare "
            f"{project.folder} {project.bundles.parent}` says whom"
        )


def _write_repository(root: Path, project: Project, made: Made) -> None:
    """All bundles as they will be, and what says how to read them."""
    files: dict[Path, bytes] = {}
    for path, found in made.bundles.items():
        files |= {root / path.name / name: content for name, content in found.items()}
    for path in (project.bundles / "ci.yaml", project.bundles / "ci.yml"):
        if path in made.placement.files or path.exists():
            files[root / path.name] = made.placement.files.get(path) or path.read_bytes()
    for file, content in files.items():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
