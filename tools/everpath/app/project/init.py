"""Creates a releases.yaml for the operator-sdk project in the current folder."""

from __future__ import annotations

__all__ = ["DEFAULT_FILE", "NewProject", "new_project", "relative_path", "write_project"]

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from everpath import __url__
from everpath.app.project.generated_files import generate_files
from everpath.app.project.project import Project
from everpath.atomic_files import FileChange, FileTransaction
from everpath.bundlegen import scaffold_csv
from everpath.errors import UsageError
from everpath.loaders.releases.formatting import format_releases
from everpath.loaders.releases.parser import parse_releases
from everpath.loaders.sources import Sources
from everpath.opm_render import Blob
from everpath.parsing.yaml_writer import yaml_text
from everpath.releases.model import ReleasesFile, has_tag_or_digest
from everpath.releases.validation import is_folder_name
from everpath.versions import parse_or_none

DEFAULT_FILE: Final = "catalog/releases.yaml"
_SCHEMA: Final = f"{__url__}/raw/main/docs/schemas/releases.schema.json"
#: Folders of operator-sdk with the manifests of a bundle.
_MANIFEST_FOLDERS: Final = (
    "config/manifests/bases",
    "config/crd/bases",
    "config/rbac",
    "config/manager",
    "config/webhook",
    "config/samples",
    "config/scorecard",
)
_VARIABLE: Final = r"^(?:export\s+)?{}\s*[:?]?=\s*(?P<value>\S+)\s*(?:#.*)?$"
_IMAGE: Final = re.compile(rb"""^[\s-]*image:\s*["']?([^\s"'@:]+(?::\d+/[^\s"'@:]+)?)""", re.MULTILINE)


class NewProject(NamedTuple):
    """A releases.yaml to create, with its comments and further files.

    `blobs` are the documents of the imported catalog. `messages` are for the user.
    """

    source: ReleasesFile
    blobs: tuple[Blob, ...] | None = None
    comments: tuple[str, ...] = ()
    files: Mapping[Path, bytes] = {}
    messages: tuple[str, ...] = ()


def write_project(start: NewProject, path: Path) -> list[FileChange]:
    """Write releases.yaml and, if releases were imported, all files that are generated from it."""
    # A repository that has the schema refers to its own copy.
    own_schema = Path("docs/schemas/releases.schema.json")
    is_inside = path.resolve().is_relative_to(Path.cwd())
    schema = relative_path(own_schema, path) if own_schema.is_file() and is_inside else _SCHEMA
    content = format_releases(start.source, schema, start.comments).encode()
    sources = Sources()
    source = parse_releases(content, str(path), sources)
    project = Project(path, source, sources, content, start.blobs)
    if start.source.releases and (start.blobs is not None or start.source.bundles):
        with generate_files(project) as files:
            return files.commit()
    return FileTransaction({path: content, **start.files}, staging=project.staging).commit()


def relative_path(target: Path, file: Path) -> str:
    """Return a path as releases.yaml has it: relative to the folder of the file."""
    return Path(os.path.relpath(target, file.parent)).as_posix()


def new_project(package: str | None, channel: str | None, file: Path) -> NewProject:
    """Create a releases.yaml without releases for the project in the current folder. Raises UsageError."""
    makefile = _read("Makefile")
    image = _makefile_variable(makefile, "IMAGE_TAG_BASE")
    image = image if image and not has_tag_or_digest(image) else None
    package = (
        package or _match(r"^projectName:\s*(?P<value>\S+)\s*$", _read("PROJECT")) or _base_csv_package()
    )
    if not package:
        raise UsageError(
            "the name of the package is unknown", hint="everpath init --package NAME [--channel NAME]"
        )
    if not is_folder_name(package):
        raise UsageError(
            f"{package!r} is not a valid package name",
            hint="letters, digits, dots and dashes only: --package NAME",
        )
    operator = [path for path in _MANIFEST_FOLDERS if Path(path).is_dir()] or [
        path for path in ("operator/config", "config") if Path(path).is_dir()
    ]
    files = _base_csv(package, operator)
    operator += (str(path.parent) for path in files if str(path.parent) not in operator)
    source = ReleasesFile(
        package,
        channel or "stable",
        operator=tuple(relative_path(Path(path), file) for path in operator),
        bundles=relative_path(Path("bundles"), file),
        image=f"{image}-bundle" if image else None,
        images=_operator_images(image, operator) if image else {},
    )
    missing, kustomize = tuple(_missing_keys(source)), _kustomize_comments()
    messages = [f"warning: {kustomize[0][:1].lower()}{kustomize[0][1:]} {kustomize[1]}"] if kustomize else []
    if missing:
        messages.append(f"Fill in the keys that are commented out in {file}. Then:")
    version = _makefile_variable(makefile, "VERSION") or ""
    messages.append(f"The first release: everpath release {version if parse_or_none(version) else '0.1.0'}")
    return NewProject(source, None, (*missing, *kustomize), files, tuple(messages))


def _operator_images(image: str, operator: Sequence[str]) -> dict[str, str]:
    """Return the operator's image by its name in the manifests: `controller` (operator-sdk), or its own."""
    texts = (file.read_bytes() for path in operator for file in Path(path).rglob("*.y*ml") if file.is_file())
    names = {name.decode(errors="replace") for text in texts for name in _IMAGE.findall(text)} or {
        "controller"
    }
    return {name: image for name in ("controller", image) if name in names}


def _missing_keys(source: ReleasesFile) -> Iterator[str]:
    """Yield the keys that only the author knows, as comments with an example value."""
    if not source.operator:
        yield "operator: ../config    # the operator's manifests: base CSV, CRDs, RBAC, Deployment, samples"
    if not source.image:
        yield f"image: registry.example.com/{source.package}-bundle    # bundle images are IMAGE:vVERSION"
    if not source.images:
        yield f"images: {{controller: registry.example.com/{source.package}}}    # by the manifests' names"


def _base_csv(package: str, operator: Sequence[str]) -> dict[Path, bytes]:
    """Return a base ClusterServiceVersion, unless the manifests have one already."""
    texts = (file for path in operator for file in Path(path).rglob("*.y*ml"))
    if not operator or any(b"ClusterServiceVersion" in file.read_bytes() for file in texts if file.is_file()):
        return {}
    folder = Path(_MANIFEST_FOLDERS[0] if Path("config").is_dir() else operator[0])
    return {folder / f"{package}.clusterserviceversion.yaml": yaml_text(scaffold_csv(package)).encode()}


def _kustomize_comments() -> tuple[str, ...]:
    """Return comments on changes that kustomize makes to the manifests of the project."""
    kustomization = _read("config/default/kustomization.yaml")
    if not re.search(r"^(namePrefix|patches\w*):", kustomization, re.MULTILINE):
        return ()
    return (
        "The changes of config/default (namePrefix, patches) are not in these manifests. To include them:",
        "kustomize build config/manifests > operator.yaml, and operator: ../operator.yaml",
        "(the key of `images:` is then the image that kustomize sets, without its tag)",
    )


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, IsADirectoryError):
        return ""


def _makefile_variable(makefile: str, name: str) -> str | None:
    """Return the value of a variable, if it refers to no other variable."""
    value = _match(_VARIABLE.format(name), makefile)
    return value if value and "$" not in value else None


def _match(pattern: str, text: str) -> str | None:
    match = re.search(pattern, text, re.MULTILINE)
    return match["value"].strip("\"'") if match else None


def _base_csv_package() -> str | None:
    """Return the package that the base ClusterServiceVersion is named after, if there is exactly one."""
    folders = ("config/manifests/bases", "operator/config/manifests", "config/manifests")
    files = [file for folder in folders for file in Path(folder).glob("*.clusterserviceversion.yaml")]
    return files[0].name.partition(".")[0] if len(files) == 1 else None
