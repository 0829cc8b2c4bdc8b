"""Creates a releases.yaml from an existing catalog or operators repository."""

from __future__ import annotations

__all__ = ["import_catalog"]

import shlex
from dataclasses import replace
from pathlib import Path

from everpath.app.project.bundles import render
from everpath.app.project.init import NewProject, relative_path
from everpath.app.project.project import CATALOG_SUFFIXES, Project, load_blobs
from everpath.errors import ReleasesError, UsageError
from everpath.loaders.bundle.detect import is_bundle_folder, is_repository
from everpath.loaders.catalog_loader import load
from everpath.loaders.releases.bundle_digests import bundle_digest, read_files
from everpath.loaders.sources import STANDARD_INPUT, Sources
from everpath.model import Catalog, Package
from everpath.model.progress import Progress
from everpath.opm_render import Blob
from everpath.releases.model import Release, ReleasesFile
from everpath.releases.reconstruction import reconstruct_releases
from everpath.wording import count


def import_catalog(path: str, name: str | None, file: Path, progress: Progress | None = None) -> NewProject:
    """Reconstruct the releases of a package, each with the edges that it has. Raises UsageError.

    `name` is the package; it is required if there are several. `file` is the releases.yaml to be written.
    """
    sources = Sources()
    package = _select_package(
        load(_package_folder(path, name), sources=sources, progress=progress).catalog, name
    )
    if package.is_single_bundle:
        raise UsageError(f"{path} is the folder of one bundle", hint="name the catalog that contains it")
    source = reconstruct_releases(package)
    comments = ("Reconstructed by `everpath init`: every edge as it was found, oldest release first.",)
    is_folder = path != STANDARD_INPUT and Path(path).is_dir()
    if is_folder and (is_repository(path) or is_bundle_folder(path)):
        return _import_bundles(source, package, file, comments)
    blobs = tuple(
        blob
        for blob in load_blobs(path, sources)
        if blob.get("name" if blob.get("schema") == "olm.package" else "package") == package.name
    )
    _require_other_folder(path, package, file)
    messages = tuple(
        f"warning: omitted, because it is in no channel and opm rejects that: {source.csv_name(release)}"
        for release in source.releases
        if not release.channels
    )
    source = replace(source, releases=tuple(release for release in source.releases if release.channels))
    return NewProject(source, blobs, comments, {}, messages)


def _package_folder(path: str, name: str | None) -> str:
    """Return the folder of the package in a repository, so that no other package is loaded."""
    for folder in (Path(path, "operators", name), Path(path, name)) if name else ():
        if folder.is_dir() and is_repository(path) and is_repository(str(folder)):
            return str(folder)
    return path


def _select_package(catalog: Catalog, name: str | None) -> Package:
    if name is None and len(catalog.packages) == 1:
        return catalog.packages[0]
    names = ", ".join(list(catalog.by_name)[:5]) + (", …" if len(catalog.packages) > 5 else "")
    if name is None:
        raise UsageError(
            f"releases.yaml is for one package, but there are {len(catalog.packages)}: {names}",
            hint=f"-p {next(iter(catalog.by_name), 'NAME')}",
        )
    if name not in catalog.by_name:
        raise UsageError(f"there is no package {name!r}", hint=f"there are {names}" if names else None)
    return catalog.by_name[name]


def _require_other_folder(path: str, package: Package, file: Path) -> None:
    """Raise UsageError if old and new catalog would be in one folder, where opm loads both."""
    folder = file.parent / package.name
    generated = [(folder / f"catalog.{suffix}").resolve() for suffix in CATALOG_SUFFIXES]
    files = (package.place.file, *(channel.place.file for channel in package.channels))
    for old in () if path == STANDARD_INPUT else files:
        resolved = Path(old).resolve()
        if resolved.is_relative_to(file.parent.resolve()) and resolved not in generated:
            raise UsageError(
                f"{old} would be beside {folder / 'catalog.yaml'}, and both would declare {package.name}",
                hint=_move_hint(path, file),
            )


def _move_hint(path: str, file: Path) -> str:
    """Suggest where to move the old catalog, without overwriting anything."""
    elsewhere = f"write to another folder, then delete the old catalog: --file new/{file.name}"
    target = Path(f"old-{Path(path).name}")
    if Path.cwd().is_relative_to(Path(path).resolve()) or target.exists():
        return elsewhere
    old, new = shlex.quote(path), shlex.quote(str(target))
    return f"move the old catalog first: mv {old} {new}, then --from {new}; or {elsewhere}"


def _import_bundles(
    source: ReleasesFile, package: Package, file: Path, comments: tuple[str, ...]
) -> NewProject:
    """Freeze the bundles of a repository, which must be in PACKAGE/VERSION.

    A bundle that opm rejects today is published all the same: its document is put into the catalog.
    """
    roots = {
        _repository_root(bundle.place.file, package.name, bundle.version or "") for bundle in package.bundles
    }
    root = roots.pop() if len(roots) == 1 else None
    if root is None:
        raise UsageError(
            f"the bundles of {package.name} are not all in folders {package.name}/VERSION",
            hint=f"name the folders after the versions, such as {package.name}/{source.releases[-1].version}",
        )
    source = replace(source, bundles=relative_path(root, file))
    project = Project(file, source, Sources())
    releases: list[Release] = []
    blobs: list[Blob] = []
    rejections: list[str] = []
    for release in source.releases:
        folder = project.bundle_folder(release)
        files = read_files(folder)
        try:
            render(str(folder), "")
            releases.append(replace(release, bundle=bundle_digest(files)))
        except ReleasesError as error:
            blobs.append(render(str(folder), project.bundle_image(release), is_published=True))
            releases.append(release)
            rejections.append(error.message)
    messages: tuple[str, ...] = ()
    if rejections:
        more = f"; and {count(len(rejections) - 1, 'more bundle')}" if rejections[1:] else ""
        messages = (f"warning: kept as `published`, because opm rejects it today: {rejections[0]}{more}",)
    source = replace(source, releases=tuple(releases))
    return NewProject(source, tuple(blobs) or None, comments, {}, messages)


def _repository_root(file: str, package: str, version: str) -> Path | None:
    """Return the folder above PACKAGE/VERSION/manifests/FILE, or None if the folders have other names."""
    folder = Path(file).parent
    folder = folder.parent if folder.name == "manifests" else folder
    return folder.parent.parent if (folder.parent.name, folder.name) == (package, version) else None
