"""Render bundles, catalogs and templates to the documents of a file-based catalog, as opm does."""

from __future__ import annotations

__all__ = ["MIGRATION", "CatalogRenderer", "RenderWarning", "RenderedCatalog"]

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from everpath.app.image_inputs import is_image, pull_if_image
from everpath.app.opm_validate import rejection_reason
from everpath.errors import UsageError
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.bundle.detect import is_bundle_folder, is_repository
from everpath.loaders.fbc.blobs import bundle_csv, decode_checked_blob, load_blobs, load_documents
from everpath.loaders.sources import STANDARD_INPUT, Sources
from everpath.model import OpmError, Place, ProblemKind
from everpath.opm_render.bundles import (
    BUNDLE,
    Blob,
    RenderedBundle,
    expand_image_template,
    normalize_bundle,
    render_bundle,
)
from everpath.opm_render.csv_metadata import migrate_to_csv_metadata
from everpath.opm_render.templates import is_template, render_template

#: The migration of opm that replaces olm.bundle.object by olm.csv.metadata.
MIGRATION: Final = "bundle-object-to-csv-metadata"
#: A key of every document of a catalog, and of every template.
_SCHEMA: Final = b"schema"


class RenderWarning(NamedTuple):
    """Content of a bundle that opm ignores without a message."""

    message: str
    place: Place
    fix: str | None


class RenderedCatalog(NamedTuple):
    """The documents of all paths, the errors of paths that opm rejects, and the paths that are ignored."""

    blobs: list[Blob]
    errors: list[OpmError]
    ignored: list[str]


class CatalogRenderer:
    """Renders paths and images.

    `bundles` are folders by the image that a template names, `catalogs` are paths of catalogs with such
    images, and `pull` allows pulling the others. `image_template` is the image of bundles in folders. With
    `migrate`, every bundle with an image is migrated to olm.csv.metadata.
    """

    def __init__(
        self,
        *,
        bundles: Mapping[str, str] | None = None,
        catalogs: Sequence[str] = (),
        image_template: str = "",
        migrate: bool = False,
        pull: bool = False,
        on_warning: Callable[[RenderWarning], object] = lambda _: None,
    ) -> None:
        self.sources = Sources()
        self._bundles = bundles or {}
        self._catalogs = catalogs
        self._image_template = image_template
        self._migrate_bundles = migrate
        self._pull = pull
        self._on_warning = on_warning

    def render_all(self, paths: Sequence[str]) -> RenderedCatalog:
        """Render some paths. Raises UnreadableInput, and UsageError for paths that cannot be combined.

        Ignores files beside bundles that are no catalog or template: a shell pattern such as `bundles/acme/*`
        adds ci.yaml and OWNERS.
        """
        if (*paths, *self._catalogs).count(STANDARD_INPUT) > 1:
            raise UsageError("standard input can be read only once", hint="give - a single time")
        if not paths:
            raise UsageError("nothing to render", hint="name a bundle's folder, a catalog or a template")
        rendered = RenderedCatalog([], [], [])
        parents = {Path(path).parent for path in paths if Path(path).is_dir() and is_bundle_folder(path)}
        for path in paths:
            file = Path(path)
            if file.parent in parents and file.is_file() and _SCHEMA not in file.read_bytes():
                rendered.ignored.append(path)
                continue
            try:
                rendered.blobs.extend(self.render(path.rstrip(os.sep) or path))
            except OpmError as error:
                rendered.errors.append(error)
        return rendered

    def render(self, path: str) -> list[Blob]:
        """Return the documents of a path. Raises OpmError, UnreadableInput and UsageError."""
        if path == STANDARD_INPUT:
            self._read_standard_input()
        elif is_image(path):
            return self._render_image(path)
        elif Path(path).is_dir():
            if is_bundle_folder(path):
                return [self._render_folder(path, None).blob]
            if is_repository(path):
                hint = f"give its bundles, as in {path}/{_bundle_pattern(path)}"
                raise UsageError(f"{path} is a repository of bundles, not a bundle", hint=hint)
            return [self._normalize(blob) for blob in load_blobs(path, self.sources)]
        documents = load_documents(path, self.sources)
        if is_template(documents[0]):
            for other in documents[1:]:
                message = "a template is one document; opm ignores the others"
                raise OpmError(message, other.place, "move it into the first document, or to another file")
            return render_template(documents[0], self._template_bundle, rejection_reason)
        return [self._normalize(decode_checked_blob(document)) for document in documents]

    def _render_image(self, path: str) -> list[Blob]:
        """Render an image. The document of a bundle has its reference, unless the image is a local file."""
        folder = pull_if_image(path)
        if not is_bundle_folder(folder):
            return [self._normalize(blob) for blob in load_blobs(folder, self.sources)]
        is_local = path.startswith(("oci:", "oci-archive:", "docker-archive:"))
        return [self._render_folder(folder, None if is_local else path.removeprefix("docker://")).blob]

    def _read_standard_input(self) -> None:
        if sys.stdin is None:
            raise UsageError("standard input is closed", hint="pipe a catalog or template into everpath")
        self.sources.add_stream(STANDARD_INPUT, sys.stdin.buffer)

    def _template_bundle(self, image: str) -> RenderedBundle:
        """Return the bundle of an image that a template names."""
        if image in self._bundles:
            return self._render_folder(self._bundles[image], image)
        if image in self._catalog_bundles:
            return self._catalog_bundles[image]
        if self._pull:
            return self._render_folder(pull_if_image(f"docker://{image}"), image)
        raise OpmError(
            f"the content of {image} is unknown, and images are not pulled without --pull",
            fix=f"--pull, --bundle {image}=FOLDER, or --from a catalog that contains it",
        )

    def _render_folder(self, folder: str, image: str | None) -> RenderedBundle:
        contents = load_bundle_contents(folder)
        for problem in contents.problems:
            if problem.kind in (ProblemKind.UNREADABLE_DOCUMENT, ProblemKind.SEVERAL_CSVS):
                self._on_warning(RenderWarning(problem.message, problem.place, problem.fix))
        if image is None:
            image = expand_image_template(contents, self._image_template) if self._image_template else ""
        return self._migrate(render_bundle(contents, image))

    @cached_property
    def _catalog_bundles(self) -> dict[str, RenderedBundle]:
        """The bundles of all catalogs by image; the first of an image is taken."""
        bundles: dict[str, RenderedBundle] = {}
        for path in self._catalogs:
            if path == STANDARD_INPUT:
                self._read_standard_input()
            for blob in load_blobs(pull_if_image(path), self.sources):
                if blob["schema"] == BUNDLE and blob["image"]:
                    rendered = RenderedBundle(self._normalize(blob), bundle_csv(blob))
                    bundles.setdefault(blob["image"], rendered)
        return bundles

    def _normalize(self, blob: Blob) -> Blob:
        """Return a document of a catalog as opm renders it again."""
        if blob["schema"] != BUNDLE or not self._migrate_bundles:
            return normalize_bundle(blob)
        return self._migrate(RenderedBundle(normalize_bundle(blob), bundle_csv(blob))).blob

    def _migrate(self, rendered: RenderedBundle) -> RenderedBundle:
        return migrate_to_csv_metadata(rendered) if self._migrate_bundles else rendered


def _bundle_pattern(repository: str) -> str:
    """Return the shell pattern of the bundles in a repository."""
    for pattern in ("*", "*/*", "*/*/*"):
        if any(is_bundle_folder(str(path)) for path in Path(repository).glob(pattern)):
            return pattern
    return "*/*"
