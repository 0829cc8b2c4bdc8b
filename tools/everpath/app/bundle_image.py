"""What goes into the image of a bundle, and the errors for which OLM or opm could not use it."""

from __future__ import annotations

__all__ = ["bundle_errors", "bundle_labels", "is_unreadable", "load_bundle_members"]

from collections.abc import Iterator
from typing import Final

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_folder import ValidationTarget, load_bundle_for_validation
from everpath.model import OpmError
from everpath.model.bundle_contents import Contents
from everpath.oci.build_context import BundleMembers, bundle_members
from everpath.opm_render.bundles import render_bundle
from everpath.rules.lint import BUNDLE_SUBJECTS, Selection, lint_bundle

# EP603 to EP605: annotations that are missing, of another media type, or name folders that do not exist.
# EP401 to EP408: invalid versions, and other reasons why opm rejects a catalog with the bundle.
_RULES: Final = frozenset({"EP603", "EP604", "EP605", *(f"EP{number}" for number in range(401, 409))})
_UNREADABLE: Final = "unreadable-document"


def is_unreadable(contents: Contents) -> bool:
    """True if a manifest cannot be parsed."""
    return any(problem.kind == _UNREADABLE for problem in contents.problems)


def bundle_errors(folder: str, contents: Contents) -> Iterator[OpmError]:
    """Yield the reasons why opm cannot render a bundle, or OLM cannot unpack its image.

    Cost: every manifest is parsed.
    """
    for problem in contents.problems:
        if problem.kind in (_UNREADABLE, "several-csvs"):
            yield OpmError(problem.message, problem.place, problem.fix)
    try:
        render_bundle(contents)
    except OpmError as error:
        yield error
    selection = Selection(rules=_RULES, subjects=BUNDLE_SUBJECTS)
    for finding in lint_bundle(load_bundle_for_validation(folder, ValidationTarget()), selection).findings:
        yield OpmError(finding.message, finding.place, finding.fix)


def load_bundle_members(folder: str, contents: Contents) -> BundleMembers:
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


def bundle_labels(folder: str, contents: Contents) -> dict[str, str]:
    """Return the labels of the image, which are the annotations of the bundle. Raises UnreadableInput."""
    if contents.annotations is None:
        raise UnreadableInput(
            f"no file of {folder} declares the package and the channels of the bundle",
            hint="write metadata/annotations.yaml",
            file=folder,
        )
    return {key: value for key, value in contents.annotations.items() if isinstance(value, str)}
