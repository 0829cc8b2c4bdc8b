"""`everpath init`: the first releases.yaml of a project, or the one that an existing catalog amounts to."""

from __future__ import annotations

__all__ = ["init"]

import os
import re
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import click

from everpath import __url__
from everpath.app.project import Project, blobs_of
from everpath.bundlegen import scaffold_csv
from everpath.cli.image_inputs import local
from everpath.cli.makers import makers, rendered
from everpath.cli.making import made
from everpath.cli.options import one_package_option
from everpath.cli.placing import Placement, place
from everpath.cli.terminal import ProgressLine
from everpath.errors import ExitCode, ReleasesError, UsageError
from everpath.loaders.bundle.detect import is_bundle_folder, is_repository
from everpath.loaders.catalog_loader import load
from everpath.loaders.releases.bundle_digests import bundle_digest, read_files
from everpath.loaders.releases.formatting import format_releases
from everpath.loaders.releases.parser import parse_releases
from everpath.loaders.sources import STANDARD_INPUT, Sources
from everpath.model import Catalog, Package
from everpath.opm_render import Blob
from everpath.parsing.yaml_writer import yaml_text
from everpath.releases.model import Release, ReleasesFile, has_tag_or_digest
from everpath.releases.reconstruction import reconstruct_releases
from everpath.releases.validation import is_folder_name
from everpath.reporters.formatting import count
from everpath.versions import parse_or_none

_SCHEMA: Final = f"{__url__}/raw/main/docs/schemas/releases.schema.json"
_FILE: Final = "catalog/releases.yaml"
#: Where operator-sdk keeps what a bundle is made of.
_MANIFESTS: Final = (
    "config/manifests/bases",
    "config/crd/bases",
    "config/rbac",
    "config/manager",
    "config/webhook",
    "config/samples",
    "config/scorecard",
)
_ASSIGNED: Final = r"^(?:export\s+)?{}\s*[:?]?=\s*(?P<value>\S+)\s*(?:#.*)?$"
_IMAGE: Final = re.compile(rb"""^[\s-]*image:\s*["']?([^\s"'@:]+(?::\d+/[^\s"'@:]+)?)""", re.MULTILINE)


class _Start(NamedTuple):
    """The source to begin with, the documents of the catalog it comes from, if it has any, and more files.

    `remarks` are comments of the file, `told` is what to know now.
    """

    source: ReleasesFile
    blobs: tuple[Blob, ...] | None = None
    remarks: tuple[str, ...] = ()
    files: Mapping[Path, bytes] = {}
    told: tuple[str, ...] = ()


@click.command("init", short_help="Start a releases.yaml, also from a catalog.")
@click.option(
    "--from", "catalog", metavar="CATALOG", help="Reconstruct it from whatever validate-graph reads."
)
@one_package_option
@click.option("-c", "--channel", metavar="NAME", help="The default channel.  [default: stable]")
@click.option("-f", "--file", metavar="FILE", default=_FILE, show_default=True, help="Where to write it.")
def init(catalog: str | None, package: str | None, channel: str | None, file: str) -> int:
    """Write the file that `everpath release` and `everpath generate` work on.

    In a project of operator-sdk it finds name, images and manifests in PROJECT, Makefile and config/. With
    --from it lists every release of an existing catalog with its edges, each as it is found: generating gives
    back the same graph. Nothing that exists is overwritten.

    \b
    $ everpath init
    $ everpath init --package searchkeeper --channel stable
    $ everpath init --from published/ -p searchkeeper
    $ opm render quay.io/me/catalog:latest | everpath init --from - -p searchkeeper

    \b
    Exit codes:
      0  written                     3  input that cannot be read
      2  a wrong command line, a file that exists, a catalog that opm refuses
    """
    if not file.strip():
        raise UsageError("--file names no file", hint="leave it out, or name a releases.yaml")
    path = Path(file) / "releases.yaml" if Path(file).is_dir() else Path(file)
    if path.exists():
        raise UsageError(f"{path} exists already", hint="everpath release adds to it; --file names another")
    start = _reconstructed(catalog, package, path) if catalog else _from_project(package, channel, path)
    content = format_releases(start.source, _schema(path), start.remarks).encode()
    sources = Sources()
    project = Project(path, parse_releases(content, str(path), sources), sources, start.blobs)
    placement = Placement({path: content, **start.files}, shelter=project.shelter)
    if start.source.releases and (start.blobs is not None or start.source.bundles):
        all_files = made(project, makers()).placement
        placement = all_files._replace(files={**all_files.files, path: content})
    done = place(placement)
    releases = count(len(start.source.releases), "release")
    click.echo(
        f"{path}: {start.source.package} with {releases}; {count(len(done), 'file')} written.", err=True
    )
    for line in start.told:
        click.echo(line, err=True)
    return ExitCode.CLEAN


def _schema(path: Path) -> str:
    """The schema of this project, if it has one and the file is in it; else where everybody can read it."""
    local = Path("docs/schemas/releases.schema.json")
    is_inside = path.resolve().is_relative_to(Path.cwd())
    return _relative(local, path) if local.is_file() and is_inside else _SCHEMA


def _relative(target: Path, file: Path) -> str:
    return Path(os.path.relpath(target, file.parent)).as_posix()


def _reconstructed(path: str, name: str | None, file: Path) -> _Start:
    sources = Sources()
    with ProgressLine(sys.stderr) as progress:
        path = local(path, progress)
        whole = _chosen(load(_part(path, name), sources=sources, progress=progress).catalog, name)
    if whole.is_one_release:
        raise UsageError(f"{path} is the folder of one bundle", hint="give the catalog it is in")
    source = reconstruct_releases(whole)
    remarks = ("Reconstructed by `everpath init`: every edge as it was found, oldest release first.",)
    is_folder = path != STANDARD_INPUT and Path(path).is_dir()
    if is_folder and (is_repository(path) or is_bundle_folder(path)):
        return _with_bundles(source, whole, file, remarks)
    blobs = tuple(blob for blob in blobs_of(path, sources) if _package_of(blob) == whole.name)
    _require_apart(path, whole, file)
    lost = [source.csv_name(release) for release in source.releases if not release.channels]
    source = replace(source, releases=tuple(release for release in source.releases if release.channels))
    told = [f"warning: left out, since no channel has it and opm refuses that: {name}" for name in lost]
    return _Start(source, blobs, remarks, {}, tuple(told))


def _part(path: str, name: str | None) -> str:
    """The folder of the one package that is wanted of a repository: nothing else need be read."""
    for folder in (Path(path, "operators", name), Path(path, name)) if name else ():
        if folder.is_dir() and is_repository(path) and is_repository(str(folder)):
            return str(folder)
    return path


def _package_of(blob: Blob) -> object:
    return blob.get("name") if blob.get("schema") == "olm.package" else blob.get("package")


def _chosen(catalog: Catalog, name: str | None) -> Package:
    if name is None and len(catalog.packages) == 1:
        return catalog.packages[0]
    names = ", ".join(list(catalog.by_name)[:5]) + (", …" if len(catalog.packages) > 5 else "")
    if name is None:
        hint = f"-p {next(iter(catalog.by_name), 'NAME')}"
        raise UsageError(
            f"a source is of one package, and there are {len(catalog.packages)}: {names}", hint=hint
        )
    if name not in catalog.by_name:
        raise UsageError(f"no package is called {name!r}", hint=f"there are {names}" if names else None)
    return catalog.by_name[name]


def _require_apart(path: str, whole: Package, file: Path) -> None:
    """The old catalog must not stay beside the new one: whoever loads both finds everything twice."""
    ours = file.parent / whole.name
    places = (whole.place.file, *(channel.place.file for channel in whole.channels))
    for each in () if path == STANDARD_INPUT else places:
        there = Path(each).resolve()
        if there.is_relative_to(file.parent.resolve()) and there not in (
            (ours / f"catalog.{suffix}").resolve() for suffix in ("yaml", "json")
        ):
            said = f"{each} would lie beside {ours / 'catalog.yaml'}, and both would hold {whole.name}"
            raise UsageError(said, hint=_apart(path, file))


def _apart(path: str, file: Path) -> str:
    """How to get the old catalog out of the way: nothing is advised that would move over something."""
    elsewhere = f"write to another folder, and delete the old catalog after: --file new/{file.name}"
    aside = Path(f"old-{Path(path).name}")
    if Path.cwd().is_relative_to(Path(path).resolve()) or aside.exists():
        return elsewhere
    old, new = shlex.quote(path), shlex.quote(str(aside))
    return f"start from where it is not in the way: mv {old} {new}, then --from {new}; or {elsewhere}"


def _with_bundles(source: ReleasesFile, whole: Package, file: Path, remarks: tuple[str, ...]) -> _Start:
    """The source with the folder that holds PACKAGE/VERSION for each release."""
    roots = {_root(bundle.place.file, whole.name, bundle.version or "") for bundle in whole.bundles}
    root = roots.pop() if len(roots) == 1 else None
    if root is None:
        raise UsageError(
            f"the bundles of {whole.name} are not all in folders {whole.name}/VERSION",
            hint=f"name them after the versions, for instance {whole.name}/{source.releases[-1].version}",
        )
    with_folder = replace(source, bundles=_relative(root, file))
    project = Project(file, with_folder, Sources())
    kept = [_kept(project, release) for release in source.releases]
    blobs = tuple(each.blob for each in kept if each.blob is not None)
    told = tuple(_published([each.reason for each in kept if each.reason]))
    found = replace(with_folder, releases=tuple(each.release for each in kept))
    return _Start(found, blobs or None, remarks, {}, told)


class _Kept(NamedTuple):
    """A release of a repository; with its blob, and why opm makes none of it, where only that can be kept."""

    release: Release
    blob: Blob | None = None
    reason: str = ""


def _kept(project: Project, release: Release) -> _Kept:
    """The release, frozen. Nobody can mend what is out: what opm refuses stays as well as it can be told."""
    folder = project.bundle_folder(release)
    files = read_files(folder)
    try:
        rendered(str(folder), files, "")
    except ReleasesError as error:
        blob = rendered(str(folder), files, project.image_of(release), is_out=True)
        return _Kept(release, blob, error.message)
    return _Kept(replace(release, bundle=bundle_digest(files)))


def _published(reasons: Sequence[str]) -> Iterator[str]:
    """Which bundles are kept though opm refuses them; the first stands for many."""
    if reasons:
        more = f"; and {count(len(reasons) - 1, 'more bundle')}" if reasons[1:] else ""
        yield f"warning: kept as `published`, since opm refuses it today: {reasons[0]}{more}"


def _root(file: str, package: str, version: str) -> Path | None:
    """The folder above PACKAGE/VERSION/manifests/FILE."""
    folder = Path(file).parent
    folder = folder.parent if folder.name == "manifests" else folder
    is_usual = (folder.parent.name, folder.name) == (package, version)
    return folder.parent.parent if is_usual else None


def _from_project(name: str | None, channel: str | None, file: Path) -> _Start:
    """An empty source for the project in the current folder."""
    makefile, project = _content("Makefile"), _content("PROJECT")
    base = _assigned(makefile, "IMAGE_TAG_BASE")
    base = base if base and not has_tag_or_digest(base) else None
    found = name or _matched(r"^projectName:\s*(?P<value>\S+)\s*$", project) or _base_csv()
    if not found:
        raise UsageError(
            "nothing here says what the package is called",
            hint="everpath init --package NAME [--channel NAME]",
        )
    if not is_folder_name(found):
        raise UsageError(
            f"{found!r} cannot be the name of a package",
            hint="letters, digits, dots and dashes only: --package NAME",
        )
    operator = [path for path in _MANIFESTS if Path(path).is_dir()] or [
        path for path in ("operator/config", "config") if Path(path).is_dir()
    ]
    files = _base(found, operator)
    operator += (str(base.parent) for base in files if str(base.parent) not in operator)
    source = ReleasesFile(
        found,
        channel or "stable",
        operator=tuple(_relative(Path(path), file) for path in operator),
        bundles=_relative(Path("bundles"), file),
        image=f"{base}-bundle" if base else None,
        images=_images(base, operator) if base else {},
    )
    version = _assigned(makefile, "VERSION") or ""
    version = version if parse_or_none(version) else "0.1.0"
    open_keys, overlaid = tuple(_open_keys(source)), tuple(_overlaid())
    told = [f"warning: {overlaid[0][:1].lower()}{overlaid[0][1:]} {overlaid[1]}"] if overlaid else []
    told += ["Fill in what is commented out in it. Then:"] if open_keys else []
    told.append(f"The first release: everpath release {version}")
    return _Start(source, None, (*open_keys, *overlaid), files, tuple(told))


def _images(base: str, operator: Sequence[str]) -> dict[str, str]:
    """The image to put in, by the name that the manifests have for it: operator-sdk's, or its own."""
    texts = (file.read_bytes() for path in operator for file in Path(path).rglob("*.y*ml") if file.is_file())
    found = {name.decode(errors="replace") for text in texts for name in _IMAGE.findall(text)}
    found = found or {"controller"}
    return {name: base for name in ("controller", base) if name in found}


def _open_keys(source: ReleasesFile) -> Iterator[str]:
    """What only the author knows, as comments that need no more than a value."""
    if not source.operator:
        yield "operator: ../config    # the operator's manifests: base CSV, CRDs, RBAC, Deployment, samples"
    if not source.image:
        yield f"image: registry.example.com/{source.package}-bundle    # bundle images are IMAGE:vVERSION"
    if not source.images:
        yield f"images: {{controller: registry.example.com/{source.package}}}    # by the manifests' names"


def _base(package: str, operator: Sequence[str]) -> dict[Path, bytes]:
    """The ClusterServiceVersion to begin with, where operator-sdk has not been asked for one yet."""
    texts = (file for path in operator for file in Path(path).rglob("*.y*ml"))
    if not operator or any(b"ClusterServiceVersion" in file.read_bytes() for file in texts if file.is_file()):
        return {}
    folder = Path(_MANIFESTS[0] if Path("config").is_dir() else operator[0])
    text = yaml_text(scaffold_csv(package))
    return {folder / f"{package}.clusterserviceversion.yaml": text.encode()}


def _overlaid() -> Iterator[str]:
    """What to know of a project whose manifests are changed on their way to a cluster."""
    if re.search(r"^(namePrefix|patches\w*):", _content("config/default/kustomization.yaml"), re.MULTILINE):
        yield "What config/default changes (namePrefix, patches) is not in these manifests. With it:"
        yield "kustomize build config/manifests > operator.yaml, and operator: ../operator.yaml"
        yield "(then the key of `images:` is the image that kustomize has put in, without its tag)"


def _content(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, IsADirectoryError):
        return ""


def _assigned(makefile: str, name: str) -> str | None:
    """A variable of a Makefile, if its value is written out."""
    value = _matched(_ASSIGNED.format(name), makefile)
    return value if value and "$" not in value else None


def _matched(pattern: str, text: str) -> str | None:
    found = re.search(pattern, text, re.MULTILINE)
    return found["value"].strip("\"'") if found else None


def _base_csv() -> str | None:
    """The package that the base ClusterServiceVersion is named after."""
    names: Sequence[Path] = sorted(_base_csvs())
    return names[0].name.partition(".")[0] if len(names) == 1 else None


def _base_csvs() -> Iterator[Path]:
    for folder in ("config/manifests/bases", "operator/config/manifests", "config/manifests"):
        yield from Path(folder).glob("*.clusterserviceversion.yaml")
