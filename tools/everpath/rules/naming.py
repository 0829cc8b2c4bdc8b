"""Names of bundles and folders that do not match the version or the package."""

from __future__ import annotations

__all__ = ["folder_and_version_differ", "name_and_version_differ", "package_differs_from_folder"]

from collections.abc import Iterator

from everpath.graph import PackageGraph
from everpath.model import Bundle
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_rule, package_rule
from everpath.versions import parse_or_none, parse_tolerant_or_none, version_suffix


@bundle_rule("EP410", "name-and-version-differ", Severity.WARNING)
def name_and_version_differ(bundle: Bundle) -> Iterator[Flaw]:
    """A bundle whose name ends in a version has that version.

    Users and tools read the version from the name. For a bundle folder, a name that does not end in
    `.vVERSION` is a note. A bundle with a release has another form, which EP407 checks. Cost: one match.
    """
    version = parse_or_none(bundle.version)
    if version is None or bundle.release:
        return
    endings = _endings(version.text)
    name = bundle.name.lower()
    # 11.0.0 does not end in 1.0.0.
    has_version = any(name.endswith(e) and not name.removesuffix(e)[-1:].isdigit() for e in endings)
    stated = None if has_version else version_suffix(bundle.name)
    if stated is not None:
        yield Flaw(
            bundle.place.at("name"),
            f"{bundle.name} looks like {stated}, but its version is {version}",
            because=("users and tools read the version from the name",),
            fix=f"before the release, end the name in .v{endings[0]} or correct the version; after it, "
            "change neither, and use a version above both for the next release",
        )
    elif bundle.csv is not None and not any(name.endswith(f".v{e}") for e in endings):
        ending = next((e for e in endings if name.endswith(e)), None)
        prefix = bundle.name[: -len(ending)].rstrip("._-") if ending else bundle.package
        yield Flaw(
            bundle.place.at("name"),
            f"the name of {bundle.name} does not end in .v{endings[0]}",
            because=("operator-sdk and OperatorHub expect NAME.vVERSION",),
            fix=f"name the next release {prefix}.vVERSION",
            severity=Severity.NOTE,
        )


def _endings(version: str) -> tuple[str, ...]:
    """Return how a name may spell a version, best first: in lower case, and preferably without '+'."""
    plain = version.lower()
    shorter = plain.partition("+")[0]
    return tuple(dict.fromkeys((plain.replace("+", "-"), plain.replace("+", "."), shorter, plain)))


@package_rule("EP411", "folder-and-version-differ", Severity.WARNING)
def folder_and_version_differ(graph: PackageGraph) -> Iterator[Flaw]:
    """The folder of a bundle is named after its version.

    Pipelines use the name of the folder, and publish another version than OLM sees. Folders whose name is
    not a version are not checked. Cost: one comparison a bundle.
    """
    bundles = graph.package.bundles
    taken = {bundle.csv.folder for bundle in bundles if bundle.csv}
    for bundle in bundles:
        csv = bundle.csv
        if (
            csv is None
            or parse_tolerant_or_none(csv.folder) is None
            or csv.folder in (csv.version, f"v{csv.version}")
        ):
            continue
        raised = f"change spec.version to {csv.folder} and the end of the name to .v{csv.folder}"
        yield Flaw(
            csv.place.at("version"),
            f"pipelines publish {bundle.name} as {csv.folder}, like its folder, but it has "
            + (f"version {csv.version}" if csv.version else "no version"),
            because=("pipelines use the name of the folder, OLM uses spec.version",),
            fix=f"set spec.version to {csv.folder}"
            if not csv.version
            else f"{raised}, before the release; there is already a folder {csv.version}"
            if csv.version in taken
            else f"rename the folder to {csv.version}; or, before the release, {raised}",
            entry=bundle.name,
        )


@bundle_rule("EP412", "package-differs-from-folder", Severity.WARNING)
def package_differs_from_folder(bundle: Bundle) -> Iterator[Flaw]:
    """In a repository of operators, a bundle is in the folder of its package.

    Catalogs use the package of the annotation, but the ci.yaml of the folder decides about the edges. Only
    `operators/PACKAGE/VERSION` is checked. Cost: one comparison.
    """
    folder = _package_folder(bundle)
    if folder is None or folder == bundle.package:
        return
    stated = bundle.csv.annotations if bundle.csv else None
    yield Flaw(
        stated.at("package") if stated else bundle.place,
        f"{bundle.name} is published in the package {bundle.package}, but it is in the folder of {folder}",
        because=("catalogs use the annotation, repositories use the folder",),
        fix=f"move the folder to operators/{bundle.package}; do not change the annotation of a published "
        "bundle: to OLM another name is another package",
    )


def _package_folder(bundle: Bundle) -> str | None:
    """Return PACKAGE, if a bundle is in operators/PACKAGE/VERSION."""
    folders = bundle.place.file.split("/")
    version = bundle.csv.folder if bundle.csv else None
    found = (
        package
        for parent, package, below in zip(folders, folders[1:], folders[2:], strict=False)
        if parent == "operators" and below == version
    )
    return next(found, None)
