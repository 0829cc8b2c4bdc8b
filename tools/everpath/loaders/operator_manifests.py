"""Load the operator's manifests: every document of every YAML file in some folders, and one icon.

Patches are not applied, except those that add tests to operator-sdk's scorecard. For a project with kustomize
bases and patches, give the folders of the bases, or a file with the output of `kustomize build`.
"""

from __future__ import annotations

__all__ = ["load_operator_manifests"]

import io
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from everpath.bundlegen import SCORECARD_GROUP, Icon, OperatorManifests, classify_manifests
from everpath.errors import UnreadableInput
from everpath.loaders.fbc.document_splitter import SplitError, split_yaml
from everpath.loaders.sources import Sources, unreadable_input
from everpath.model import Place
from everpath.model.bundle_contents import Manifest
from everpath.parsing import yaml_parser
from everpath.parsing.parse_result import ParseError

_SUFFIXES: Final = (".yaml", ".yml", ".json")
#: Media type and first bytes of each image format. A file of another format shows as a broken icon.
_PICTURES: Final = {
    ".svg": ("image/svg+xml", b"<svg"),
    ".png": ("image/png", b"\x89PNG\r\n\x1a\n"),
    ".jpg": ("image/jpeg", b"\xff\xd8\xff"),
    ".jpeg": ("image/jpeg", b"\xff\xd8\xff"),
    ".gif": ("image/gif", b"GIF8"),
}
_UNSHOWN: Final = (".webp", ".bmp", ".ico", ".tif", ".tiff", ".avif", ".heic", ".pdf")
_KUSTOMIZATIONS: Final = ("kustomization.yaml", "kustomization.yml")
#: The keys of a kustomization that only lists resources, or sets images as releases.yaml does.
_LISTING: Final = frozenset({"apiVersion", "kind", "metadata", "resources", "images", "namespace"})
_SNIFFED: Final = 4096
_APPENDED: Final = re.compile(r"/stages/(\d{1,4})/tests/-")


def load_operator_manifests(paths: Iterable[str], sources: Sources) -> OperatorManifests:
    """Load the manifests of files and folders. Raises `UnreadableInput` with file and line."""
    given = tuple(paths)
    files = [file for path in given for file in _files(path, sources)]
    texts = [file for file in files if file in given or file.endswith(_SUFFIXES)]
    tests: list[tuple[int, Any]] = []
    manifests = [manifest for file in texts for manifest in _manifests(file, sources, tests)]
    manifests = [
        _with_tests(manifest, tests) if manifest.api_version.startswith(f"{SCORECARD_GROUP}/") else manifest
        for manifest in manifests
    ]
    pictures = [file for file in files if _is_icon(file)]
    if len(pictures) > 1:
        hint = "keep one of them"
        raise UnreadableInput(
            f"{' and '.join(pictures)}: an operator has one icon", hint=hint, file=pictures[1]
        )
    return classify_manifests(manifests, _load_icon(pictures[0], sources) if pictures else None)


def _is_icon(file: str) -> bool:
    """Return whether a file is the icon. Raises `UnreadableInput` for a format that OLM does not support."""
    path = Path(file)
    if path.stem == "icon" and path.suffix in _UNSHOWN:
        hint = f"save it as one of {', '.join(f'icon{suffix}' for suffix in _PICTURES)}"
        raise UnreadableInput(f"{file}: OLM knows no icons of this kind", hint=hint, file=file)
    return path.stem == "icon" and path.suffix in _PICTURES


def _files(path: str, sources: Sources, above: frozenset[Path] = frozenset()) -> Iterator[str]:
    """Yield the files of a folder, sorted by name.

    If a kustomization only lists resources, files that it does not list are skipped.
    """
    if not Path(path).is_dir():
        yield path
        return
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError as error:
        raise unreadable_input(path, error) from error
    real = Path(path).resolve()
    if real in above:
        hint = "take the link out"
        raise UnreadableInput(f"{path} is a link to a folder that it is in", hint=hint, file=path)
    listed = _read_kustomization_resources(
        [entry for entry in entries if entry.name in _KUSTOMIZATIONS], sources
    )
    for entry in entries:
        is_folder = entry.is_dir()
        is_known = listed is None or entry.name in listed or not (is_folder or entry.name.endswith(_SUFFIXES))
        if entry.name.startswith(".") or not is_known:
            continue
        if is_folder:
            yield from _files(entry.path, sources, above | {real})
        elif entry.is_file() or not Path(entry.path).exists():
            # A broken link is read too, which fails: its target must not be missing silently.
            yield entry.path


def _read_kustomization_resources(
    found: Iterable[os.DirEntry[str]], sources: Sources
) -> frozenset[str] | None:
    """Return the names that a listing kustomization includes; None if there is none or it does more."""
    for entry in found:
        try:
            value = yaml_parser.parse(sources.read(entry.path)).value
        except ParseError:
            return None
        resources = value.get("resources") if isinstance(value, dict) else None
        if isinstance(resources, list) and value.keys() <= _LISTING:
            plain = (str(name).removeprefix("./").rstrip("/") for name in resources)
            return frozenset(name.partition("/")[0] for name in plain)
    return None


def _manifests(file: str, sources: Sources, tests: list[tuple[int, Any]]) -> Iterator[Manifest]:
    """Yield the manifests of a file; append the tests that it adds to the scorecard to `tests`."""
    data = sources.read(file)
    for document in split_yaml(io.BytesIO(data)):
        line = data.count(b"\n", 0, document.offset)
        if isinstance(document, SplitError):
            raise _syntax_error(file, line + 1, 1, document.message)
        try:
            parsed = yaml_parser.parse(document.text)
        except ParseError as problem:
            raise _syntax_error(file, line + problem.line, problem.column, problem.message) from problem
        if added := _added_tests(parsed.value):
            tests += added
        elif not parsed.is_blank and _is_manifest(file, line + 1, parsed.value):
            yield Manifest(Place(file, document.offset), parsed.value)


def _added_tests(value: Any) -> list[tuple[int, Any]]:
    """Return the tests that a JSON patch appends to stages of a scorecard, if it does nothing else."""
    steps = value if isinstance(value, list) else []
    found = [
        (int(where[1]), step.get("value"))
        for step in steps
        if isinstance(step, dict) and step.get("op") == "add"
        if (where := _APPENDED.fullmatch(str(step.get("path"))))
    ]
    return found if len(found) == len(steps) else []


def _with_tests(scorecard: Manifest, tests: Iterable[tuple[int, Any]]) -> Manifest:
    """Return the scorecard with more tests; those for a missing stage are dropped."""
    stages = scorecard.body.get("stages")
    made = [dict(stage) if isinstance(stage, dict) else stage for stage in stages or ()]
    for number, test in tests:
        if number < len(made) and isinstance(made[number], dict):
            made[number]["tests"] = [*(made[number].get("tests") or ()), test]
    return scorecard._replace(body={**scorecard.body, "stages": made}) if made else scorecard


def _is_manifest(file: str, line: int, value: Any) -> bool:
    if isinstance(value, dict) and isinstance(value.get("kind"), str):
        return True
    if Path(file).stem in ("kustomization", "kustomizeconfig"):
        return False
    raise UnreadableInput(
        f"{file}:{line}: not a manifest: it has no kind",
        hint="keep patches and values out of the folders that `operator` names, or name the files themselves",
        file=file,
    )


def _syntax_error(file: str, line: int, column: int, message: str) -> UnreadableInput:
    return UnreadableInput(f"{file}:{line}:{column}: not YAML: {message}", file=file)


def _load_icon(file: str, sources: Sources) -> Icon:
    data = sources.read(file)
    media_type, beginning = _PICTURES[Path(file).suffix]
    head = data[:_SNIFFED]
    if not (beginning in head if media_type == "image/svg+xml" else head.startswith(beginning)):
        hint = "save it again in the format its name says"
        raise UnreadableInput(f"{file}: not a picture of the kind {media_type}", hint=hint, file=file)
    return Icon(data, media_type)
