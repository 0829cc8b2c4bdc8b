"""Loads all manifests and metadata of a bundle folder, as opm does (`everpath.model.bundle_contents`).

opm reads the first document of each file in manifests/, without hidden files and subfolders, and identifies
the files of metadata/ by content. A file that opm ignores with a warning is a problem here.
"""

from __future__ import annotations

__all__ = ["load_bundle_contents", "load_manifest"]

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.annotations import CHANNELS, DEFAULT_CHANNEL, PACKAGE
from everpath.loaders.bundle.bundle_summary import is_metadata_name
from everpath.loaders.bundle.detect import MANIFEST_SUFFIXES, BundleLayout, find_layouts
from everpath.loaders.bundle.field_reader import type_name
from everpath.loaders.bundle.folder_reader import FolderReader, join
from everpath.loaders.fbc.document_splitter import RawDocument, SplitError, is_json, split_yaml
from everpath.model import Place, Problem, ProblemKind, Property
from everpath.model.bundle_contents import CSV, Contents, Manifest
from everpath.opm_render.go_json import scalar_to_string, sort_keys
from everpath.parsing import json_parser, yaml_parser
from everpath.parsing.parse_result import ParsedDocument, ParseError


def load_bundle_contents(path: str) -> Contents:
    """Load the bundle in a folder. Raises `UnreadableInput` if it cannot be listed or is not a bundle.

    Cost: every file is parsed.
    """
    reader = FolderReader(path)
    layouts = find_layouts(reader, "")
    if not layouts:
        message = f"{path} is not a bundle: it has no manifests folder"
        raise UnreadableInput(message, hint="give the folder that holds manifests/ and metadata/", file=path)
    return _ContentsLoader(reader).contents(layouts[0])


def load_manifest(reader: FolderReader, file: str) -> Manifest | Problem | None:
    """Load one file: its manifest, the problem if it cannot be read, or None if it is not a manifest."""
    loader = _ContentsLoader(reader)
    found = loader.file(file)
    if found is None:
        return loader.problems[0]
    return Manifest(found.place, found.value) if _is_manifest(found.value) else None


class _File(NamedTuple):
    """The first document of a file."""

    place: Place
    parsed: ParsedDocument
    is_json: bool

    @property
    def value(self) -> Any:
        return self.parsed.value


@dataclass(slots=True)
class _ContentsLoader:
    reader: FolderReader
    problems: list[Problem] = field(default_factory=list)

    def contents(self, layout: BundleLayout) -> Contents:
        folder = self.reader.root
        manifests = tuple(self._manifests(layout))
        metadata = self._metadata(layout)
        self._check_required_files(layout, manifests, metadata)
        return Contents(
            folder,
            Place(folder),
            manifests,
            metadata.annotations,
            metadata.annotations_place,
            metadata.dependencies,
            metadata.properties,
            tuple(self.problems),
            frozenset(metadata.valueless),
        )

    def _manifests(self, layout: BundleLayout) -> Iterator[Manifest]:
        for name in layout.files:
            if layout.is_shared and is_metadata_name(name):
                continue
            file = self.file(join(layout.manifests, name))
            if file is None:
                continue
            if _is_manifest(file.value):
                yield Manifest(file.place, file.value)
            else:
                self._add(
                    ProblemKind.UNREADABLE_DOCUMENT,
                    file.place,
                    _invalid_manifest_reason(file.value),
                    _IGNORED,
                )

    def _metadata(self, layout: BundleLayout) -> _Metadata:
        found = _Metadata()
        if layout.metadata is None:
            return found
        for name in self.reader.list_folder(layout.metadata, hidden=True).files:
            if layout.is_shared and not is_metadata_name(name):
                continue
            # opm tries every file, also a README. An error is reported only for files that should be YAML.
            file = self.file(join(layout.metadata, name), is_expected=name.endswith(MANIFEST_SUFFIXES))
            if file is not None and isinstance(file.value, dict):
                found.add(file)
        return found

    def file(self, name: str, *, is_expected: bool = True) -> _File | None:
        place = Place(join(self.reader.root, name))
        try:
            data = self.reader.read(name)
            return _first_document(data, place)
        except UnreadableInput as error:
            self._add(ProblemKind.UNREADABLE_DOCUMENT, place, error.message, error.hint)
        except ParseError as error:
            if is_expected:
                at = place._replace(offset=error.offset)
                self._add(ProblemKind.UNREADABLE_DOCUMENT, at, f"not YAML: {error.message}", error.fix)
        return None

    def _check_required_files(
        self, layout: BundleLayout, manifests: tuple[Manifest, ...], metadata: _Metadata
    ) -> None:
        csvs = [m for m in manifests if m.kind == CSV]
        folder = Place(self.reader.root)
        if not csvs:
            where = layout.manifests or "the folder"
            self._add(ProblemKind.NO_CSV, folder, f"{where} contains no {CSV}", f"add the bundle's {CSV}")
        for other in csvs[1:]:
            message = f"a second {CSV}: the bundle already has {csvs[0].place.file}"
            self._add(ProblemKind.SEVERAL_CSVS, other.place, message, "keep one of them")
        if metadata.annotations is None:
            where = layout.metadata or "the folder"
            message = f"the package and the channels of the bundle are unknown: {where} has no annotations"
            self._add(ProblemKind.NO_ANNOTATIONS, folder, message, "write metadata/annotations.yaml")

    def _add(self, kind: ProblemKind, place: Place, message: str, fix: str | None) -> None:
        self.problems.append(Problem(kind, place, message, fix))


_IGNORED = "opm ignores the file: make it a manifest, or remove it from the folder"


def _is_manifest(value: object) -> bool:
    """Whether opm accepts a document as a manifest: it has a kind, and an apiVersion that is valid."""
    if not isinstance(value, dict):
        return False
    kind, api = value.get("kind"), value.get("apiVersion")
    return isinstance(kind, str) and bool(kind) and not (isinstance(api, str) and api.count("/") > 1)


def _invalid_manifest_reason(value: object) -> str:
    if not isinstance(value, dict):
        return f"a manifest is a mapping, not {type_name(value)}"
    kind, api = value.get("kind"), value.get("apiVersion")
    if isinstance(api, str) and api.count("/") > 1:
        return f"the apiVersion {api!r} is not a group and a version"
    return f"kind is {type_name(kind)}, not a string" if kind is not None else "a manifest without a kind"


@dataclass(slots=True)
class _Metadata:
    """The content of the metadata folder: the first annotations, dependencies and properties."""

    annotations: Mapping[str, Any] | None = None
    annotations_place: Place | None = None
    dependencies: tuple[Property, ...] = ()
    properties: tuple[Property, ...] = ()
    valueless: set[Place] = field(default_factory=set)

    def add(self, file: _File) -> None:
        if self.annotations is None and (annotations := _annotations(file)) is not None:
            self.annotations = annotations
            self.annotations_place = file.place._replace(dialect="annotations")
        if not self.dependencies and (found := _properties(file, "dependencies")):
            self.dependencies = found
            self.valueless.update(_valueless(file, "dependencies"))
        if not self.properties and (found := _properties(file, "properties")):
            self.properties = found
            self.valueless.update(_valueless(file, "properties"))


def _annotations(file: _File) -> Mapping[str, Any] | None:
    """Return the annotations if opm can decode them and one of the bundle's is not empty."""
    found = file.value.get("annotations")
    if not isinstance(found, dict):
        return None
    texts = {key: scalar_to_string(value) for key, value in found.items()}
    known = [texts.get(key) for key in (PACKAGE, CHANNELS, DEFAULT_CHANNEL)]
    return texts if any(known) and all(v is None or isinstance(v, str) for v in known) else None


def _properties(file: _File, key: str) -> tuple[Property, ...]:
    """Return the properties or dependencies of a file; none if one item is invalid, as opm does."""
    items = file.value.get(key)
    if not isinstance(items, list) or not all(isinstance(item, dict | None) for item in items):
        return ()
    kinds = [(item or {}).get("type") for item in items]
    texts = [scalar_to_string(kind) for kind in kinds]
    if not all(isinstance(text, str | None) for text in texts):
        return ()
    is_as_written = file.is_json and texts == kinds
    return tuple(
        Property(
            text or "",
            value if is_as_written else sort_keys(value),
            file.place.at(key, index),
        )
        for index, (text, item) in enumerate(zip(texts, items, strict=True))
        for value in [(item or {}).get("value")]
    )


def _valueless(file: _File, key: str) -> Iterator[Place]:
    for index, item in enumerate(file.value.get(key) or ()):
        if not isinstance(item, dict) or "value" not in item:
            yield file.place.at(key, index)


def _first_document(data: bytes, place: Place) -> _File:
    """Parse the first document of a file, split as Kubernetes' decoder does.

    Raises `ParseError` with the offset in the file.
    """
    if is_json(io.BytesIO(data)):
        try:
            parsed, _ = json_parser.parse_at(json_parser.decode_utf8(data), 0)
        except ParseError:
            pass
        else:
            return _File(place, parsed, is_json=True)
    document = next(split_yaml(io.BytesIO(data)), RawDocument(0, b""))
    if isinstance(document, SplitError):
        raise ParseError(1, 1, document.message, document.offset)
    try:
        # Kubernetes' decoder ends the last line of a file, which matters for a block scalar.
        parsed = yaml_parser.parse(document.text if document.text.endswith(b"\n") else document.text + b"\n")
    except ParseError as error:
        error.offset = document.offset + min(error.offset, len(document.text))
        raise
    return _File(place._replace(offset=document.offset), parsed, is_json=False)
