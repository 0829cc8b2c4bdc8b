"""Build the image of a bundle."""

from __future__ import annotations

__all__ = ["build_bundle_image", "bundle_image_spec"]

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from everpath.app.images.build import (
    BuildRejected,
    BuiltImage,
    ImageBuildOptions,
    image_labels,
    output_location,
    output_platforms,
    source_date_epoch,
)
from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_contents import load_bundle_contents
from everpath.loaders.bundle.bundle_folder import ValidationTarget, load_bundle_for_validation
from everpath.loaders.sources import Sources
from everpath.model import OpmError, ProblemKind
from everpath.model.bundle_contents import Contents
from everpath.oci.build import ImageSpec
from everpath.oci.build_context import BundleMembers, bundle_members
from everpath.opm_render.bundles import render_bundle
from everpath.rules.lint import BUNDLE_SUBJECTS, SelectedRules, Selection, lint_bundle

# EP603 to EP605: annotations that are missing, of another media type, or name folders that do not exist.
# EP401 to EP408: invalid versions, and other reasons why opm rejects a catalog with the bundle.
_RULES: Final = frozenset({"EP603", "EP604", "EP605", *(f"EP{number}" for number in range(401, 409))})
_UNREADABLE: Final = ProblemKind.UNREADABLE_DOCUMENT


def build_bundle_image(
    folder: str, options: ImageBuildOptions, *, on_warning: Callable[[str], None] = lambda _: None
) -> BuiltImage:
    """Build the image of a bundle in memory.

    `on_warning` receives a message for each file that is not in the image. Raises BuildRejected if opm or OLM
    could not use the bundle, UsageError and UnreadableInput.
    """
    contents = load_bundle_contents(folder)
    location = output_location(options, folder, contents.csv.name if contents.csv else "")
    options = replace(options, platforms=output_platforms(options, location))
    return BuiltImage(bundle_image_spec(folder, options, contents, on_warning=on_warning), location)


def bundle_image_spec(
    folder: str,
    options: ImageBuildOptions,
    contents: Contents | None = None,
    *,
    on_warning: Callable[[str], None] = lambda _: None,
) -> ImageSpec:
    """Return the spec of a bundle's image; `contents` is the bundle, if it is loaded already."""
    contents = contents if contents is not None else load_bundle_contents(folder)
    epoch = source_date_epoch()
    errors = [] if options.no_check else list(_bundle_errors(folder, contents))
    if errors:
        is_unreadable = any(problem.kind == _UNREADABLE for problem in contents.problems)
        raise BuildRejected("OLM could not use the bundle", errors, Sources(), is_unreadable=is_unreadable)
    if contents.annotations is None:
        raise UnreadableInput(
            f"no file of {folder} declares the package and the channels of the bundle",
            hint="write metadata/annotations.yaml",
            file=folder,
        )
    labels = {key: value for key, value in contents.annotations.items() if isinstance(value, str)}
    files = _load_members(folder, contents)
    for file in files.left_out:
        on_warning(f"{file} is not in the image: OLM does not read it")
    return ImageSpec(
        files.members,
        image_labels(labels, options),
        options.annotations,
        options.platforms,
        options.compression,
        epoch,
        "everpath bundle build",
    )


def _bundle_errors(folder: str, contents: Contents) -> Iterator[OpmError]:
    """Yield the reasons why opm cannot render a bundle, or OLM cannot unpack its image.

    Cost: every manifest is parsed.
    """
    for problem in contents.problems:
        if problem.kind in (_UNREADABLE, ProblemKind.SEVERAL_CSVS):
            yield OpmError(problem.message, problem.place, problem.fix)
    try:
        render_bundle(contents)
    except OpmError as error:
        yield error
    selection = Selection(rules=_RULES, subjects=BUNDLE_SUBJECTS)
    target = load_bundle_for_validation(folder, ValidationTarget())
    for finding in lint_bundle(target, SelectedRules(selection)).findings:
        yield OpmError(finding.message, finding.place, finding.fix)


def _load_members(folder: str, contents: Contents) -> BundleMembers:
    """Return the files of the image. Raises UnreadableInput if one that was checked would not be in it.

    opm reads every file of metadata/, also hidden files and backups, which are not in the image.
    """
    members = bundle_members(folder)
    included = {member.source for member in members.members}
    places = [contents.annotations_place, *(manifest.place for manifest in contents.manifests)]
    places += (item.place for item in (*contents.dependencies, *contents.properties))
    for file in (place.file for place in places if place is not None):
        if file not in included:
            raise UnreadableInput(
                f"{file} would not be in the image, but the bundle depends on it",
                hint="if it is a temporary file or a backup, rename it, such as to metadata/annotations.yaml",
                file=file,
            )
    return members
