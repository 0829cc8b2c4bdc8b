"""Explain what a version range matches, in words and in the versions of a package."""

from __future__ import annotations

__all__ = ["explain_range"]

from collections.abc import Sequence

from everpath.app.inputs.catalog_set import package_count
from everpath.app.inputs.inputs import Inputs
from everpath.errors import UsageError
from everpath.graph import PackageGraph
from everpath.model.progress import Progress
from everpath.ranges import Range
from everpath.ranges import explain as sentences
from everpath.reporters.range_explanation import RangeReport, VersionMatch
from everpath.versions import Version, VersionError, parse_tolerant


def explain_range(
    text: str,
    versions: Sequence[str] = (),
    *,
    inputs: Inputs | None = None,
    package: str | None = None,
    channel: str | None = None,
    progress: Progress | None = None,
) -> RangeReport:
    """Explain a range, and whether it matches `versions` and the published versions of a package.

    The package is in the catalog of `inputs`, which has one path; `package` may be None if the catalog has a
    single one. Raises RangeError if the text is not a range, and UsageError for an invalid version.
    """
    try:
        parsed = [parse_tolerant(version) for version in versions]
    except VersionError as error:
        hint = "a version is MAJOR.MINOR.PATCH, such as 1.2.3 or 1.2.3-rc.1"
        raise UsageError(str(error), hint=hint) from error
    published = None if inputs is None else _load_versions(inputs, package, channel, progress)
    version_range = Range.parse(text)
    matches = tuple(
        VersionMatch(each, None if version_range.panics_on(each) else version_range.contains(each))
        for each in parsed
    )
    return RangeReport(sentences.explain_range(version_range, published), matches)


def _load_versions(
    inputs: Inputs, package: str | None, channel: str | None, progress: Progress | None
) -> list[Version]:
    [catalog] = inputs.catalogs(progress)
    if package is None:
        if not catalog.packages:
            raise inputs.no_package_error()
        if len(catalog.packages) > 1:
            names = package_count([each.name for each in catalog.packages])
            raise UsageError(f"no package is given; the catalog has {names}", hint="name one with -p")
        package = catalog.packages[0].name
    inputs.verify_names([package], [channel] if channel else [])
    graph = PackageGraph(catalog.by_name[package])
    channels = [each for each in graph.channels if channel in (None, each.name)]
    versions = {version.text: version for each in channels for version in each.versions.values()}
    return list(versions.values())
