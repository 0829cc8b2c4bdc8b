"""Where generating meets those who know how: packaging, rendering, and the spelling of opm."""

from __future__ import annotations

__all__ = ["makers", "rendered"]

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

from everpath.app.project import Project, line_of
from everpath.bundlegen import OperatorManifests, ReleaseMetadata, bundle_files, image_names, manifest_sources
from everpath.cli.aside import folder_aside
from everpath.cli.making import Files, Makers, Packed
from everpath.errors import ReleasesError, UnreadableInput
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.fbc.catalog_writer import catalog_text
from everpath.loaders.operator_manifests import load_operator_manifests
from everpath.loaders.sources import Sources
from everpath.model import Package, Place
from everpath.model.bundle_contents import CSV, Manifest
from everpath.opm_render import Blob, Refusal, render_bundle
from everpath.opm_render.csv_metadata import migrate_to_csv_metadata
from everpath.parsing.first_document import first_document
from everpath.parsing.yaml_writer import yaml_text
from everpath.releases.csv_edges import csv_edges
from everpath.releases.model import Release


def makers() -> Makers:
    """Those of one run: the operator's manifests are read once."""
    known: dict[tuple[str, ...], OperatorManifests] = {}

    def bundle(project: Project, release: Release, whole: Package) -> Packed:
        paths = tuple(str(project.beside(path)) for path in project.source.operator)
        for path in paths:
            if not Path(path).exists():
                hint = f"`operator:` of {project.file} names it"
                raise UnreadableInput(f"{path} does not exist", hint=hint, file=path)
        if paths not in known:
            known[paths] = load_operator_manifests(paths, Sources())
        operator, facts = known[paths], _facts(project, release, whole)
        _require_known_images(project, release, operator)
        documents = bundle_files(operator, facts)
        files = {name: yaml_text(body).encode() for name, body in documents.items()}
        return Packed(files, manifest_sources(operator, facts))

    return Makers(bundle, rendered, _text, _about)


def _require_known_images(project: Project, release: Release, operator: OperatorManifests) -> None:
    """A name that no container has replaces nothing, and the release would ship another image."""
    known = sorted(image_names(operator.deployments))
    stated = {name: project.source.place.at("images", name) for name in project.source.images}
    stated |= {name: release.place.at("images", name) for name in release.images}
    for name, place in stated.items():
        if name not in known:
            near = get_close_matches(name, known, n=1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise ReleasesError(
                f"{line_of(place, project.sources)}: no container has an image called {name!r}",
                hint=f"{meant}the manifests have {', '.join(known) or 'none'}: that is the key, with no tag",
                file=str(project.file),
            )


def _facts(project: Project, release: Release, whole: Package) -> ReleaseMetadata:
    """The release as its CSV tells it."""
    source, name = project.source, project.source.csv_name(release)
    edges = csv_edges(whole, name, source.default_channel)
    additions = source.bundle_metadata(release)
    return ReleaseMetadata(
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
        properties=additions.properties or (),
        dependencies=additions.dependencies or (),
        annotations=additions.annotations,
    )


def rendered(folder: str, files: Files, image: str, *, is_out: bool = False) -> Blob:
    """What opm would render of the files, which need not be on disk yet. Raises ReleasesError.

    Of one that `is_out` also what opm rendered once and refuses today.
    """
    with folder_aside() as aside:
        for name, content in files.items():
            path = Path(aside, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        try:
            # With an image to pull, the catalog need not carry the manifests: a tenth of the size.
            return migrate_to_csv_metadata(
                render_bundle(load_bundle_contents(aside), image, is_published=is_out)
            ).blob
        except Refusal as refusal:
            where, file = (
                str(Path(folder, found.removeprefix(aside).lstrip("/")))
                for found in (line_of(refusal.place, Sources()), refusal.place.file)
            )
            raise ReleasesError(f"{where}: {refusal.message}", hint=refusal.fix, file=file) from refusal


def _about(files: Files) -> Blob:
    """Icon and description as `opm init` puts them into a package."""
    for name, content in sorted(files.items()):
        if name.startswith("manifests/") and CSV.encode() in content:
            body = first_document(content).value
            manifest = Manifest(Place(name), body if isinstance(body, dict) else {})
            if manifest.kind == CSV:
                icons, text = manifest.spec.get("icon"), manifest.spec.get("description")
                found = {"icon": icons[0] if isinstance(icons, list) and icons else None, "description": text}
                return {key: value for key, value in found.items() if value}
    return {}


def _text(blobs: Iterable[Blob], suffix: str) -> bytes:
    """Documents as opm writes them."""
    return "".join(catalog_text(blobs, suffix)).encode()
