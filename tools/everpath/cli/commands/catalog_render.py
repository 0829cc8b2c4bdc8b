"""`everpath catalog render`: a catalog from bundles, catalogs and templates."""

from __future__ import annotations

__all__ = ["render"]

import os
import sys
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from everpath.app.image_inputs import is_image, local_path
from everpath.cli.diagnostics import print_refusal, print_warning
from everpath.cli.output import write_output
from everpath.errors import ExitCode, UsageError
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.bundle.detect import is_bundle_folder, is_repository
from everpath.loaders.fbc.acceptance import rejection_reason
from everpath.loaders.fbc.blobs import bundle_csv, decode_checked_blob, load_blobs, load_documents
from everpath.loaders.fbc.catalog_writer import OUTPUT_FORMATS, catalog_text
from everpath.loaders.sources import STANDARD_INPUT, Sources
from everpath.model import OpmError
from everpath.model.bundle_contents import Contents
from everpath.opm_render.blobs import CatalogDocument
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
from everpath.reporters.formatting import count

_MIGRATION: Final = "bundle-object-to-csv-metadata"

#: What every document of a catalog says, and every template.
_SCHEMA: Final = b"schema"


class _Request(NamedTuple):
    """The command line."""

    paths: tuple[str, ...]
    output: str
    migrate_level: str
    image_ref_template: str
    bundles: tuple[str, ...]
    catalogs: tuple[str, ...]
    output_file: str | None
    pull: bool = False


@click.command("render", short_help="A catalog from bundles, catalogs and templates.")
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "--format",
    "-o",
    "--output",
    "output",
    type=click.Choice(OUTPUT_FORMATS),
    default="yaml",
    show_default=True,
    help="The language of the catalog; -o as opm calls it.",
)
@click.option(
    "--migrate-level",
    type=click.Choice(["none", _MIGRATION]),
    default="none",
    show_default=True,
    help="The last of opm's migrations to run on every bundle that has an image.",
)
@click.option(
    "--image-ref-template",
    metavar="TEXT",
    default="",
    help="The images of bundle folders: {{.Package}}, {{.Name}} and {{.Version}} are filled in.",
)
@click.option(
    "--bundle",
    "bundles",
    metavar="IMAGE=FOLDER",
    multiple=True,
    help="What an image that a template names holds; may be repeated.",
)
@click.option(
    "--from",
    "catalogs",
    metavar="CATALOG",
    multiple=True,
    help="A catalog whose bundles a template may name by their images; may be repeated.",
)
@click.option(
    "--pull", is_flag=True, help="Pull the images that a template names and nobody else says anything of."
)
@click.option("--output-file", metavar="FILE", help="Write the catalog there, whole or not at all.")
def render(**options: Any) -> int:
    """Write the catalog that bundles, catalogs and templates make, byte for byte as opm does.

    PATH is a bundle's folder, a file-based catalog (folder, file, - for standard input), an image of either,
    or a file with one of opm's templates: olm.template.basic, olm.semver, olm.template.substitutes. What a
    template names is given with --bundle or --from, or pulled with --pull. Bundles give olm.bundle documents
    and no more: the package and its channels are for a template, or for `everpath generate`, to say.

    \b
    $ everpath catalog render bundles/searchkeeper/0.3.1
    $ everpath catalog render bundles/searchkeeper/* --image-ref-template 'r.example/op:v{{.Version}}'
    $ everpath catalog render template.yaml --from catalog/ --output-file catalog.yaml
    $ everpath catalog render quay.io/me/searchkeeper-bundle:v0.3.1

    \b
    Exit codes:
      0  written                 3  input that cannot be read
      1  what opm would refuse   4  a registry that does not answer
      2  a wrong command line
    """
    return _render(_Request(**options))


def _render(request: _Request) -> int:
    kitchen = _Kitchen(request)
    blobs: list[Blob] = []
    refused = False
    for path in _rendered(_chosen(request)):
        try:
            blobs += kitchen.blobs(path.rstrip(os.sep) or path)
        except OpmError as refusal:
            print_refusal(refusal, kitchen.sources)
            refused = True
    if refused:
        return ExitCode.FINDINGS
    write_output(catalog_text(blobs, request.output), request.output_file, machine=True)
    if request.output_file is not None:
        click.echo(f"{count(len(blobs), 'document')} written to {request.output_file}.", err=True)
    return ExitCode.CLEAN


def _chosen(request: _Request) -> Sequence[str]:
    if (*request.paths, *request.catalogs).count(STANDARD_INPUT) > 1:
        raise UsageError("standard input can be read only once", hint="give - a single time")
    if not request.paths:
        raise UsageError("nothing to render", hint="name a bundle's folder, a catalog or a template")
    return request.paths


def _rendered(paths: Sequence[str]) -> Iterator[str]:
    """The paths without what a shell's `bundles/acme/*` takes in beside bundles: ci.yaml, OWNERS and such."""
    beside = {Path(path).parent for path in paths if Path(path).is_dir() and is_bundle_folder(path)}
    for path in paths:
        file = Path(path)
        if file.parent in beside and file.is_file() and _SCHEMA not in file.read_bytes():
            click.echo(f"note: {path} is passed over: no bundle, catalog or template", err=True)
        else:
            yield path


def _depth(repository: str) -> str:
    """Where in a repository the bundles are, as a shell's pattern."""
    depths = ("*", "*/*", "*/*/*")
    shallow = (d for d in depths if any(is_bundle_folder(str(each)) for each in Path(repository).glob(d)))
    return next(shallow, "*/*")


class _Kitchen:
    """Makes blobs of paths and images."""

    def __init__(self, request: _Request) -> None:
        self._request = request
        self.sources = Sources()
        self._folders = dict(map(_mapped, request.bundles))

    def blobs(self, path: str) -> list[Blob]:
        """What a path renders to. Raises `OpmError` and `UnreadableInput`."""
        if path == STANDARD_INPUT:
            self._hear()
        elif is_image(path):
            return self._image(path)
        elif Path(path).is_dir():
            if is_bundle_folder(path):
                return [self._folder(path, None).blob]
            if is_repository(path):
                hint = f"give its bundles, as in {path}/{_depth(path)}"
                raise UsageError(f"{path} is a repository of bundles, not one of them", hint=hint)
            return [self._again(blob) for blob in load_blobs(path, self.sources)]
        documents = load_documents(path, self.sources)
        if is_template(documents[0]):
            return self._template(documents)
        return [self._again(decode_checked_blob(document)) for document in documents]

    def _image(self, path: str) -> list[Blob]:
        """What an image holds. A bundle is called by its reference, if it has one outside of this machine."""
        folder = local_path(path)
        if not is_bundle_folder(folder):
            return [self._again(blob) for blob in load_blobs(folder, self.sources)]
        is_on_disk = path.startswith(("oci:", "oci-archive:", "docker-archive:"))
        return [self._folder(folder, None if is_on_disk else path.removeprefix("docker://")).blob]

    def _hear(self) -> None:
        """Keep what comes by standard input."""
        if sys.stdin is None:
            raise UsageError("standard input is closed", hint="pipe a catalog or template into everpath")
        self.sources.add_stream(STANDARD_INPUT, sys.stdin.buffer)

    def _template(self, documents: Sequence[CatalogDocument]) -> list[Blob]:
        for other in documents[1:]:
            message = "a template is one document, and opm reads no second one"
            raise OpmError(message, other.place, "put it into the first, or into a file of its own")
        return render_template(documents[0], self._bundle, rejection_reason)

    def _bundle(self, image: str) -> RenderedBundle:
        """The bundle in an image that a template names."""
        if image in self._folders:
            return self._folder(self._folders[image], image)
        if image in self._catalogued:
            return self._catalogued[image]
        if self._request.pull:
            return self._folder(local_path(f"docker://{image}"), image)
        message = f"nobody says what {image} holds, and images are not pulled without --pull"
        raise OpmError(message, fix=f"--pull, --bundle {image}=FOLDER, or --from a catalog that has it")

    def _folder(self, folder: str, image: str | None) -> RenderedBundle:
        contents = load_bundle_contents(folder)
        self._warn(contents)
        if image is None:
            template = self._request.image_ref_template
            image = expand_image_template(contents, template) if template else ""
        return self._migrated(render_bundle(contents, image))

    @cached_property
    def _catalogued(self) -> dict[str, RenderedBundle]:
        """The bundles of all catalogs by their images, of each image the first."""
        found: dict[str, RenderedBundle] = {}
        for path in self._request.catalogs:
            if path == STANDARD_INPUT:
                self._hear()
            for blob in load_blobs(local_path(path), self.sources):
                if blob["schema"] == BUNDLE and blob["image"]:
                    found.setdefault(blob["image"], RenderedBundle(self._again(blob), bundle_csv(blob)))
        return found

    def _again(self, blob: Blob) -> Blob:
        """A blob that has been rendered before."""
        if blob["schema"] != BUNDLE or self._request.migrate_level != _MIGRATION:
            return normalize_bundle(blob)
        return self._migrated(RenderedBundle(normalize_bundle(blob), bundle_csv(blob))).blob

    def _migrated(self, rendered: RenderedBundle) -> RenderedBundle:
        return migrate_to_csv_metadata(rendered) if self._request.migrate_level == _MIGRATION else rendered

    def _warn(self, contents: Contents) -> None:
        """Say what opm would leave out without a word."""
        for problem in contents.problems:
            if problem.kind in ("unreadable-document", "several-csvs"):
                print_warning(problem.message, problem.place, problem.fix, self.sources)


def _mapped(text: str) -> tuple[str, str]:
    image, equals, folder = text.rpartition("=")
    if not equals or not image or not folder:
        raise UsageError(f"--bundle {text!r} maps nothing", hint="write --bundle IMAGE=FOLDER")
    return image, folder
