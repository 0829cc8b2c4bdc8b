"""Load one file of a catalog: split it into documents, parse them, and pass them to the schema decoder."""

from __future__ import annotations

__all__ = ["DocumentSink", "FileLoader", "FileResult"]

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from everpath.loaders.fbc.document_splitter import (
    JsonChunk,
    RawDocument,
    SplitError,
    is_json,
    read_small_file,
    split_json,
    split_yaml,
)
from everpath.loaders.fbc.fields import ProblemCollector, type_description
from everpath.loaders.sources import Sources
from everpath.model import Place, ProblemKind
from everpath.parsing import json_parser
from everpath.parsing.parse_result import UTF_8_FIX, ParsedDocument, ParseError, ParseWarning

if TYPE_CHECKING:
    from everpath.loaders.fbc.partial_document import PartialDocument
    from everpath.loaders.fbc.partial_json import PartialJsonParser
    from everpath.loaders.fbc.partial_yaml import PartialYamlParser

_HEAD_SIZE: Final = 8192
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_REST_OF_LINE: Final = re.compile(r"[^\S\n]*\n?")


class FileResult:
    """What a file contains: its problems, and the number of documents.

    `documents` counts all of them, `with_schema` those of a catalog, `manifests` those of Kubernetes.
    """

    def __init__(self, file: str, collector: ProblemCollector) -> None:
        self.file = file
        self.collector = collector
        self.with_schema = 0
        self.manifests = 0
        self.documents = 0


class DocumentSink(Protocol):
    """Receives the documents of a file in their order."""

    def add(self, document: dict[str, Any], place: Place, collector: ProblemCollector) -> bool:
        """Take one document. Return False if it has no schema."""
        ...


class FileLoader:
    """Loads files into a sink.

    By default, values that the graph does not need are skipped unparsed (`partial_yaml`, `partial_json`).
    `check_all` checks their syntax, `parse_all` parses them too, and `thorough` turns the partial parsers
    off.
    """

    def __init__(self, sink: DocumentSink, sources: Sources, *, thorough: bool) -> None:
        self._sink = sink
        self._thorough = thorough
        self.sources = sources
        self.check_all = False
        self.parse_all = False

    def load(self, file: str) -> FileResult:
        """Load one file to its end. Raises `UnreadableInput` or OSError if it cannot be read."""
        result = FileResult(file, ProblemCollector(self.sources))
        with self.sources.open(file) as stream:
            if (binary := _binary_reason(stream)) is not None:
                reason, offset, fix = binary
                fix = f"{fix}; if the file does not belong to the catalog, add it to .indexignore"
                result.collector.add(ProblemKind.UNREADABLE_DOCUMENT, Place(file, offset), reason, fix)
            elif is_json(stream):
                self._load_json(stream, result)
            else:
                self._load_yaml(stream, 0, result)
        return result

    # Each format imports its parser on first use: a catalog of JSON needs no libyaml, one of YAML no msgspec.

    @cached_property
    def _partial_yaml(self) -> PartialYamlParser:
        from everpath.loaders.fbc.partial_yaml import PartialYamlParser  # noqa: PLC0415

        return PartialYamlParser()

    @cached_property
    def _partial_json(self) -> PartialJsonParser:
        from everpath.loaders.fbc.partial_json import PartialJsonParser  # noqa: PLC0415

        return PartialJsonParser()

    def _load_yaml(self, stream: BinaryIO, start: int, result: FileResult) -> None:
        for item in split_yaml(stream, start):
            if isinstance(item, SplitError):
                _report_split_error(item, result)
                continue
            try:
                parsed = self._parse_yaml_document(item)
            except ParseError as error:
                result.documents += 1
                _report_parse_error(error, item.offset + _error_offset(error, item.text), result)
            else:
                self._add(parsed, item.offset, result)

    def _parse_yaml_document(self, document: RawDocument) -> ParsedDocument:
        """Parse a document, partially where that is enough. Raises `ParseError`."""
        partial = None if self._thorough else self._partial_yaml.parse(document.text)
        if partial is None or (self.parse_all and not partial.is_complete):
            return _parse_yaml(document.text)
        may_be_truncated = document.is_last and partial.ends_unread
        if (may_be_truncated or self.check_all) and not partial.is_complete:
            from everpath.parsing import yaml_parser  # noqa: PLC0415

            yaml_parser.check(document.text)
        return ParsedDocument(partial.value)

    def _load_json(self, stream: BinaryIO, result: FileResult) -> None:
        for item, partial in self._json_chunks(stream):
            if isinstance(item, SplitError):
                _report_split_error(item, result)
            elif partial is not None:
                self._add(ParsedDocument(partial.value), item.offset, result)
            elif self._load_json_chunk(item, result):
                return

    def _json_chunks(
        self, stream: BinaryIO
    ) -> Iterable[tuple[JsonChunk | SplitError, PartialDocument | None]]:
        """Return the chunks of a stream, each with its partial document if it has one."""
        if self._thorough or self.check_all:
            return ((item, None) for item in split_json(stream))
        text = read_small_file(stream)
        chunks = None if text is None else self._partial_json.parse_all(text)
        if chunks is not None:
            return chunks
        return (
            (item, None if isinstance(item, SplitError) else self._partial_json.parse(item.view))
            for item in split_json(stream)
        )

    def _load_json_chunk(self, chunk: JsonChunk, result: FileResult) -> bool:
        """Load the objects of a chunk. Return True if the rest of the file was loaded as YAML."""
        try:
            for parsed, offset in _json_values(chunk):
                self._add(parsed, offset, result)
        except _InvalidJson as invalid:
            # opm parses a file as YAML if JSON fails at its first or second object.
            if result.documents <= 1 and self._continue_as_yaml(invalid.previous_end, result):
                return True
            result.documents += 1
            _report_parse_error(invalid.error, invalid.offset, result)
        return False

    def _continue_as_yaml(self, start: int, result: FileResult) -> bool:
        with self.sources.open(result.file) as stream:
            first = next(split_yaml(stream, start), None)
            try:
                if not isinstance(first, RawDocument) or _parse_yaml(first.text).is_blank:
                    return False
            except ParseError:
                return False
            self._load_yaml(stream, start, result)
        return True

    def _add(self, parsed: ParsedDocument, offset: int, result: FileResult) -> None:
        """Pass a parsed document to the sink and collect its problems."""
        collector = result.collector
        result.documents += 1
        collector.set_subject(parsed.value)
        place = Place(result.file, offset)
        for warning in parsed.warnings:
            _report_warning(warning, offset, result)
        if parsed.value is None:
            fix = "remove it; move comments into the document that they describe"
            collector.add(ProblemKind.BLANK_DOCUMENT, place, "the document is empty", fix)
        elif type(parsed.value) is not dict:
            message = f"the document is {type_description(parsed.value)}, not a mapping"
            collector.add(ProblemKind.WRONG_TYPE, place, message)
        elif self._sink.add(parsed.value, place, collector):
            result.with_schema += 1
        elif "apiVersion" in parsed.value and "kind" in parsed.value:
            result.manifests += 1


class _InvalidJson(Exception):
    """An object of a JSON stream that does not parse: where, and where the object before it ends."""

    def __init__(self, error: ParseError, offset: int, previous_end: int) -> None:
        super().__init__(error.message)
        self.error = error
        self.offset = offset
        self.previous_end = previous_end


def _json_values(chunk: JsonChunk) -> Iterator[tuple[ParsedDocument, int]]:
    """Yield the values of a chunk and their byte offsets. Raises `_InvalidJson`."""
    end, offset, text = 0, chunk.offset, ""
    try:
        text = json_parser.decode_utf8(chunk.text)
        while (start := json_parser.skip_whitespace(text, end)) < len(text):
            parsed, stop = json_parser.parse_at(text, start)
            begin = offset + _utf8_size(text, end, start)
            yield parsed, begin
            offset, end = begin + _utf8_size(text, start, stop), stop
    except ParseError as error:
        gap = _REST_OF_LINE.match(text, end)
        previous_end = offset + (_utf8_size(text, *gap.span()) if gap else 0)
        raise _InvalidJson(error, chunk.offset + _error_offset(error, chunk.text), previous_end) from error


def _utf8_size(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-8"))


def _error_offset(error: ParseError, text: bytes) -> int:
    """Return the byte of an error. One at the very end is shown where the text ends, not on the next line."""
    return min(error.offset, len(text.rstrip()))


def _parse_yaml(text: bytes) -> ParsedDocument:
    from everpath.parsing import yaml_parser  # noqa: PLC0415

    # Kubernetes' decoder ends every line, the last one of a file too, where a block scalar may end.
    return yaml_parser.parse(text if text.endswith(b"\n") else text + b"\n")


def _binary_reason(stream: BinaryIO) -> tuple[str, int, str] | None:
    """Return why a file is not UTF-8 text, by its first bytes: the reason, its offset and the fix."""
    head = stream.read(_HEAD_SIZE)
    if head.startswith(_UTF16):
        return "the file is UTF-16; opm reads UTF-8", 0, UTF_8_FIX
    if (offset := head.find(b"\0")) < 0:
        return None
    return "the file is binary: it contains a null byte", offset, "remove the null bytes"


def _report_split_error(error: SplitError, result: FileResult) -> None:
    is_too_large = error.kind is ProblemKind.UNREADABLE_DOCUMENT
    fix = (
        "no document of a catalog is that large: check how the file was generated"
        if is_too_large
        else "put --- on a line of its own"
    )
    result.documents += is_too_large
    result.collector.set_subject(None)
    result.collector.add(error.kind, Place(result.file, error.offset), error.message, fix)


def _report_parse_error(error: ParseError, offset: int, result: FileResult) -> None:
    result.collector.set_subject(None)
    message = f"the document does not parse: {error.message}"
    result.collector.add(ProblemKind.UNREADABLE_DOCUMENT, Place(result.file, offset), message, error.fix)


def _report_warning(warning: ParseWarning, offset: int, result: FileResult) -> None:
    place = Place(result.file, offset, warning.pointer)
    match warning.kind:
        case "duplicate-key":
            message = f"{warning.pointer[-1]} is written twice in this mapping"
            result.collector.add(ProblemKind.DUPLICATE_KEY, place, message, "keep the one that is meant")
        case "lossy-number":
            message = "opm converts this number to a float64, which cannot represent it"
            result.collector.add(ProblemKind.LOSSY_NUMBER, place, message, "quote it, if it may be text")
        case "leftover":
            rest = Place(result.file, offset + warning.offset)
            message = "opm never reads the following text: it reads one document up to the next line with ---"
            result.collector.add(
                ProblemKind.BAD_SEPARATOR, rest, message, "put --- on a line of its own before it"
            )
