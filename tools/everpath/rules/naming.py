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

    People and tools read the name: they take it for another release than it is. In a bundle's own folder a
    name that does not end in `.vVERSION` is noted too; a catalog cannot rename what was released, and a
    release (EP407) has a form of its own. Cost: one match.
    """
    version = parse_or_none(bundle.version)
    if version is None or bundle.release:
        return
    endings = _endings(version.text)
    stated = _stated(bundle.name, endings)
    if stated is not None:
        yield Flaw(
            bundle.place.at("name"),
            f"{bundle.name} has version {version}, not the {stated} it is named after",
            because=("whoever reads the name takes it for another release",),
            fix=f"before its release let it end in .v{endings[0]}, or correct its version; afterwards leave "
            "both, and number the next release above both",
        )
    elif bundle.csv is not None and not any(bundle.name.lower().endswith(f".v{e}") for e in endings):
        yield Flaw(
            bundle.place.at("name"),
            f"the name of {bundle.name} does not end in .v{endings[0]}",
            because=("operator-sdk and OperatorHub expect NAME.vVERSION",),
            fix=f"call the next release {_prefix(bundle, endings)}.vVERSION",
            severity=Severity.NOTE,
        )


def _stated(name: str, endings: tuple[str, ...]) -> str | None:
    """The version at the end of a name, unless it is one of these."""
    if any(_ends_in(name.lower(), ending) for ending in endings):
        return None
    return version_suffix(name)


def _ends_in(name: str, version: str) -> bool:
    """Whether a name ends in a version, and not in a longer one: 1.0.0 is not the end of 11.0.0."""
    return name.endswith(version) and not name.removesuffix(version)[-1:].isdigit()


def _prefix(bundle: Bundle, endings: tuple[str, ...]) -> str:
    """The part of a name before the version; the package, if there is no version."""
    ending = next((e for e in endings if bundle.name.lower().endswith(e)), None)
    return bundle.name[: -len(ending)].rstrip("._-") if ending else bundle.package


def _endings(version: str) -> tuple[str, ...]:
    """How a name may spell a version, best first: names have no capitals, and should have no '+'."""
    plain = version.lower()
    shorter = plain.partition("+")[0]
    return tuple(dict.fromkeys((plain.replace("+", "-"), plain.replace("+", "."), shorter, plain)))


@package_rule("EP411", "folder-and-version-differ", Severity.WARNING)
def folder_and_version_differ(graph: PackageGraph) -> Iterator[Flaw]:
    """A bundle's folder is called after its version.

    A pipeline that goes by the folder publishes another release than the one it believes to. A folder whose
    name is no version is passed over. Cost: one comparison a bundle.
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
        raised = f"raise spec.version to {csv.folder} and let the name end in .v{csv.folder}"
        yield Flaw(
            csv.place.at("version"),
            f"{bundle.name} has {f'version {csv.version}' if csv.version else 'no version'} and lies in the "
            f"folder {csv.folder}",
            because=("pipelines go by the folder, OLM by the version",),
            fix=f"write version: {csv.folder} into its spec"
            if not csv.version
            else f"{raised}, before its release; the folder {csv.version} is taken"
            if csv.version in taken
            else f"rename the folder to {csv.version}; or, before its release, {raised}",
            entry=bundle.name,
        )


@bundle_rule("EP412", "package-differs-from-folder", Severity.WARNING)
def package_differs_from_folder(bundle: Bundle) -> Iterator[Flaw]:
    """In a repository of operators a bundle belongs to the package whose folder it lies in.

    Catalogs go by the annotation: the bundle is released under another name than its folder's, whose
    ci.yaml makes its edges all the same. Only `operators/PACKAGE/VERSION` is looked at. Cost: one
    comparison.
    """
    folder = _package_folder(bundle)
    if folder is None or folder == bundle.package:
        return
    stated = bundle.csv.annotations if bundle.csv else None
    yield Flaw(
        stated.at("package") if stated else bundle.place,
        f"{bundle.name} belongs to the package {bundle.package} and lies in the folder of {folder}",
        because=("catalogs go by the annotation, repositories by the folder",),
        fix=f"move the folder to operators/{bundle.package}; the annotation must stay, once released: "
        "another name is another package to its users",
    )


def _package_folder(bundle: Bundle) -> str | None:
    """The folder of the package, where a bundle lies in operators/PACKAGE/VERSION."""
    folders = bundle.place.file.split("/")
    version = bundle.csv.folder if bundle.csv else None
    found = (
        package
        for parent, package, below in zip(folders, folders[1:], folders[2:], strict=False)
        if parent == "operators" and below == version
    )
    return next(found, None)
