"""The bundles of a project: generated from the operator's manifests, or released and frozen."""

from __future__ import annotations

__all__ = [
    "find_csv",
    "generate_bundle",
    "load_operator",
    "load_released_bundle",
    "render",
    "unfrozen_digests",
]

from collections.abc import Mapping
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from everpath.app.project.project import Files, Project
from everpath.atomic_files import leftovers_below
from everpath.bundlegen import OperatorManifests, ReleaseMetadata, bundle_files, image_names, manifest_sources
from everpath.errors import ReleasesError, UnreadableInput
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.operator_manifests import load_operator_manifests
from everpath.loaders.releases.bundle_digests import bundle_digest, read_files
from everpath.loaders.source_positions import format_position
from everpath.loaders.sources import Sources
from everpath.model import OpmError, Package, Place
from everpath.model.bundle_contents import CSV, Manifest
from everpath.opm_render import Blob, render_bundle
from everpath.opm_render.csv_metadata import migrate_to_csv_metadata
from everpath.parsing.first_document import first_document
from everpath.parsing.yaml_writer import yaml_text
from everpath.releases.csv_edges import csv_edges
from everpath.releases.model import PUBLISHED, Release


class GeneratedBundle(NamedTuple):
    """The files of a bundle, and for each the file that it is generated from."""

    files: Files
    origins: Mapping[str, str]


def load_operator(project: Project) -> OperatorManifests:
    """Load the operator's manifests. Raises UnreadableInput."""
    paths = [str(project.resolve(path)) for path in project.releases_file.operator]
    for path in paths:
        if not Path(path).exists():
            hint = f"`operator:` of {project.file} names it"
            raise UnreadableInput(f"{path} does not exist", hint=hint, file=path)
    return load_operator_manifests(tuple(paths), Sources())


def generate_bundle(
    project: Project, release: Release, package: Package, operator: OperatorManifests
) -> GeneratedBundle:
    """Generate the bundle of a release. `package` has the edges of all releases. Raises ReleasesError."""
    _require_known_images(project, release, operator)
    source, name = project.releases_file, project.releases_file.csv_name(release)
    edges = csv_edges(package, name, source.default_channel)
    bundle_metadata = source.bundle_metadata(release)
    release_metadata = ReleaseMetadata(
        source.package,
        name,
        release.version,
        tuple(membership.channel for membership in release.channels),
        source.default_channel,
        replaces=edges.replaces,
        skips=edges.skips,
        skip_range=edges.skip_range,
        min_kube_version=release.min_kube_version,
        images=source.operator_images(release),
        digests=project.digests,
        properties=bundle_metadata.properties or (),
        dependencies=bundle_metadata.dependencies or (),
        annotations=bundle_metadata.annotations,
    )
    files = {
        file: yaml_text(body).encode() for file, body in bundle_files(operator, release_metadata).items()
    }
    origins = dict.fromkeys((file for file in files if file.startswith("metadata/")), str(project.file))
    return GeneratedBundle(files, {**origins, **manifest_sources(operator, release_metadata)})


def _require_known_images(project: Project, release: Release, operator: OperatorManifests) -> None:
    """Raise ReleasesError for a key of `images:` that no container has: the image would not be replaced."""
    known = sorted(image_names(operator.deployments))
    declared = {name: project.releases_file.place.at("images", name) for name in project.releases_file.images}
    declared |= {name: release.place.at("images", name) for name in release.images}
    for name, place in declared.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            suggestion = f"did you mean {near[0]!r}? " if near else ""
            raise ReleasesError(
                f"{format_position(place, project.sources)}: no container has an image named {name!r}",
                hint=f"{suggestion}the manifests have {', '.join(known) or 'none'}; the key has no tag",
                file=str(project.file),
            )


def load_released_bundle(project: Project, release: Release) -> Files:
    """Load a bundle that is not generated; empty if only a catalog has it.

    Raises ReleasesError if it is incomplete or its digest differs from the one in releases.yaml.
    """
    folder = project.bundle_folder(release)
    files = read_files(folder) if release.bundle != PUBLISHED else {}
    if release.bundle not in (None, PUBLISHED) and bundle_digest(files) != release.bundle:
        state = "has changed since" if files else "is missing:"
        raise ReleasesError(
            f"{folder} {state} it was released ({project.position(release, 'bundle')} has its digest)",
            hint="a released bundle never changes: restore it with git, and release changes as a new version",
            file=str(project.file),
        )
    if files:
        _require_complete(folder, files)
    return files


def unfrozen_digests(project: Project) -> dict[str, str]:
    """Return the digests of the bundles on disk that have none in releases.yaml yet, by CSV name.

    Raises ReleasesError for an incomplete bundle.
    """
    digests: dict[str, str] = {}
    for release in project.releases_file.releases:
        folder = project.bundle_folder(release)
        if release.bundle is None and (files := read_files(folder)):
            leftovers = chain(leftovers_below(folder), project.staging.leftovers((), folder))
            if leftover := next(leftovers, None):
                raise ReleasesError(
                    f"{folder} may be incomplete: a killed run left {leftover}",
                    hint="run everpath generate to complete it, then cut the release",
                    file=str(folder),
                )
            _require_complete(folder, files)
            digests[project.releases_file.csv_name(release)] = bundle_digest(files)
    return digests


def _require_complete(folder: Path, files: Files) -> None:
    for part in ("manifests", "metadata"):
        if not any(name.startswith(f"{part}/") for name in files):
            raise ReleasesError(
                f"{folder} is incomplete: it has no {part} folder",
                hint="restore it with git, or delete it and run everpath generate",
                file=str(folder),
            )


def render(folder: str, image: str, *, is_published: bool = False) -> Blob:
    """Render the bundle in a folder as opm does. Raises ReleasesError for a bundle that opm rejects.

    With `is_published`, a bundle that only newer versions of opm reject is rendered as well.
    """
    try:
        # A catalog whose bundles have images does not need their manifests: it has a tenth of the size.
        return migrate_to_csv_metadata(
            render_bundle(load_bundle_contents(folder), image, is_published=is_published)
        ).blob
    except OpmError as opm_error:
        where = format_position(opm_error.place, Sources())
        raise ReleasesError(
            f"{where}: {opm_error.message}", hint=opm_error.fix, file=opm_error.place.file
        ) from opm_error


def find_csv(files: Files) -> Manifest | None:
    """Return the ClusterServiceVersion of a bundle."""
    for name, content in sorted(files.items()):
        if name.startswith("manifests/") and CSV.encode() in content:
            body = first_document(content).value
            manifest = Manifest(Place(name), body if isinstance(body, dict) else {})
            if manifest.kind == CSV:
                return manifest
    return None
