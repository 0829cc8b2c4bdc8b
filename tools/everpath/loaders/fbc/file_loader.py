"""One file of a catalog: its documents, found and decoded by opm's rules, and put into the model."""

from __future__ import annotations

__all__ = ["FileReader", "Outcome", "Taker"]

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol

from everpath.loaders.fbc.document_splitter import (
    Chunk,
    Document,
    Flaw,
    is_json,
    json_documents,
    small_text,
    yaml_documents,
)
from everpath.loaders.fbc.fields import Report, described
from everpath.loaders.sources import Sources
from everpath.model import Place
from everpath.parsing import json_parser
from everpath.parsing.parse_result import UTF_8, Parsed, Remark, TextProblem, byte_offset

if TYPE_CHECKING:
    from everpath.loaders.fbc.partial_document import Skeleton
    from everpath.loaders.fbc.partial_json import JsonSkeletons
    from everpath.loaders.fbc.partial_yaml import YamlSkeletons

_SNIFFED: Final = 8192
_UTF16: Final = (b"\xff\xfe", b"\xfe\xff")
_REST_OF_LINE: Final = re.compile(r"[^\S\n]*\n?")


class Outcome:
    """What came of one file: documents with a schema, Kubernetes manifests, all documents, problems."""

    def __init__(self, file: str, report: Report) -> None:
        self.file = file
        self.report = report
        self.described = 0
        self.manifests = 0
        self.documents = 0


class Taker(Protocol):
    """Whoever is given the documents, one after the other."""

    def add(self, document: dict[str, Any], place: Place, report: Report) -> bool:
        """Take one document, which the report is about. False if it does not say what it is."""
        ...


class FileReader:
    """Reads files into a catalog.

    `check_all` has a parser look also at what the graph does not need, `parse_all` has it read that.
    """

    def __init__(self, catalog: Taker, sources: Sources, *, thorough: bool) -> None:
        self._catalog = catalog
        self._thorough = thorough
        self.sources = sources
        self.check_all = False
        self.parse_all = False

    def read(self, file: str) -> Outcome:
        """Read one file to its end. Raises `UnreadableInput` or OSError when it cannot be read."""
        outcome = Outcome(file, Report(self.sources))
        with self.sources.open(file) as stream:
            if (binary := _why_binary(stream)) is not None:
                reason, offset, fix = binary
                fix = f"{fix}; if it is no part of the catalog, name it in .indexignore"
                outcome.report.add("unreadable-document", Place(file, offset), reason, fix)
            elif is_json(stream):
                self._read_json(stream, outcome)
            else:
                self._read_yaml(stream, 0, outcome)
        return outcome

    @cached_property
    def _yaml(self) -> YamlSkeletons:
        from everpath.loaders.fbc.partial_yaml import YamlSkeletons  # noqa: PLC0415 - each format pays for its own

        return YamlSkeletons()

    @cached_property
    def _json(self) -> JsonSkeletons:
        from everpath.loaders.fbc.partial_json import JsonSkeletons  # noqa: PLC0415

        return JsonSkeletons()

    def _read_yaml(self, stream: BinaryIO, start: int, outcome: Outcome) -> None:
        for item in yaml_documents(stream, start):
            if isinstance(item, Flaw):
                _report_flaw(item, outcome)
            else:
                self._read_yaml_document(item, outcome)

    def _read_yaml_document(self, document: Document, outcome: Outcome) -> None:
        skeleton = None if self._thorough else self._yaml.read(document.text, document.metadata)
        try:
            parsed = self._completed(skeleton, document)
        except TextProblem as problem:
            outcome.documents += 1
            at = document.offset + _byte(document.text, problem.index)
            _report_unparsable(problem.message, at, problem.fix, outcome)
        else:
            self._take(parsed, document.offset, outcome, document.text)

    def _completed(self, skeleton: Skeleton | None, document: Document) -> Parsed:
        """The document, of which what was passed over is parsed or checked as far as it may cost that."""
        if skeleton is None or (self.parse_all and not skeleton.is_whole):
            return _parse_yaml(document.text)
        if (document.may_be_cut or self.check_all) and not skeleton.is_whole:
            _check_yaml(document.text)
        return Parsed(skeleton.value)

    def _read_json(self, stream: BinaryIO, outcome: Outcome) -> None:
        for item, skeleton in self._json_objects(stream):
            if isinstance(item, Flaw):
                _report_flaw(item, outcome)
            elif skeleton is not None:
                self._take(Parsed(skeleton.value), item.offset, outcome)
            elif self._read_json_chunk(item, outcome):
                return

    def _json_objects(self, stream: BinaryIO) -> Iterable[tuple[Chunk | Flaw, Skeleton | None]]:
        """The objects of a stream with what a glance says of each; those of a usual file all at once."""
        if self._thorough or self.check_all:
            return ((item, None) for item in json_documents(stream))
        text = small_text(stream)
        found = None if text is None else self._json.read_all(text)
        return self._one_by_one(stream) if found is None else found

    def _one_by_one(self, stream: BinaryIO) -> Iterator[tuple[Chunk | Flaw, Skeleton | None]]:
        for item in json_documents(stream):
            yield item, None if isinstance(item, Flaw) else self._json.read(item.view)

    def _read_json_chunk(self, chunk: Chunk, outcome: Outcome) -> bool:
        """The objects of a chunk, one after the other. True if the file turned out to be YAML."""
        try:
            for parsed, offset in _json_values(chunk):
                self._take(parsed, offset, outcome)
        except _Stopped as stopped:
            # opm takes a file for YAML after all if JSON fails on its first or second object.
            if outcome.documents <= 1 and self._continues_as_yaml(stopped.behind, outcome):
                return True
            outcome.documents += 1
            _report_unparsable(stopped.message, stopped.at, stopped.fix, outcome)
        return False

    def _continues_as_yaml(self, start: int, outcome: Outcome) -> bool:
        with self.sources.open(outcome.file) as stream:
            first = next(yaml_documents(stream, start), None)
            try:
                if not isinstance(first, Document) or _parse_yaml(first.text).is_blank:
                    return False
            except TextProblem:
                return False
            self._read_yaml(stream, start, outcome)
        return True

    def _take(self, parsed: Parsed, offset: int, outcome: Outcome, text: bytes = b"") -> None:
        """Put a decoded document into the catalog, and what there is to say about it into the report."""
        outcome.documents += 1
        outcome.report.about(parsed.value)
        place = Place(outcome.file, offset)
        for remark in parsed.remarks:
            _report_remark(remark, offset, text, outcome)
        if parsed.value is None:
            fix = "remove it; move comments into the document they belong to"
            outcome.report.add("blank-document", place, "a document without content", fix)
        elif type(parsed.value) is not dict:
            outcome.report.add(
                "wrong-type", place, f"the document is {described(parsed.value)}, not a mapping"
            )
        elif self._catalog.add(parsed.value, place, outcome.report):
            outcome.described += 1
        elif "apiVersion" in parsed.value and "kind" in parsed.value:
            outcome.manifests += 1


class _Stopped(Exception):
    """An object of a JSON stream that is none: where that shows, and where the one before it ended."""

    def __init__(self, problem: TextProblem, at: int, behind: int) -> None:
        super().__init__(problem.message)
        self.message = problem.message
        self.fix = problem.fix
        self.at = at
        self.behind = behind


def _json_values(chunk: Chunk) -> Iterator[tuple[Parsed, int]]:
    """The values of a chunk and the bytes they start at. Raises `_Stopped`."""
    end, offset, text = 0, chunk.offset, ""
    try:
        text = json_parser.characters(chunk.text)
        while (start := json_parser.behind_blanks(text, end)) < len(text):
            parsed, stop = json_parser.parse_at(text, start)
            begin = offset + _size(text, end, start)
            yield parsed, begin
            offset, end = begin + _size(text, start, stop), stop
    except json_parser.JsonProblem as problem:
        at = chunk.offset + _byte(chunk.text, problem.index)
        gap = _REST_OF_LINE.match(text, end)
        raise _Stopped(problem, at, offset + (_size(text, *gap.span()) if gap else 0)) from problem


def _byte(text: bytes, index: int) -> int:
    """The byte of a problem; one at the very end is shown where the text ends, not on the line below."""
    return min(byte_offset(text, index), len(text.rstrip()))


def _size(text: str, start: int, end: int) -> int:
    return len(text[start:end].encode("utf-8"))


def _parse_yaml(text: bytes) -> Parsed:
    from everpath.parsing import yaml_parser  # noqa: PLC0415 - libyaml is not free, and a JSON catalog needs none

    # Kubernetes' decoder ends every line, also the last one of a file, where a text block may end.
    return yaml_parser.parse(text if text.endswith(b"\n") else text + b"\n")


def _check_yaml(text: bytes) -> None:
    from everpath.parsing import yaml_parser  # noqa: PLC0415

    yaml_parser.check(text)


def _why_binary(stream: BinaryIO) -> tuple[str, int, str] | None:
    """Why a file cannot be text in UTF-8, from its first bytes; where that shows, and what mends it."""
    head = stream.read(_SNIFFED)
    if head.startswith(_UTF16):
        return "the file is UTF-16, and opm reads UTF-8", 0, UTF_8
    if (at := head.find(b"\0")) < 0:
        return None
    return "the file is binary: it holds a null byte", at, "remove the null bytes"


def _report_flaw(flaw: Flaw, outcome: Outcome) -> None:
    fixes = {
        "bad-separator": "put --- on a line of its own",
        "unreadable-document": "no document of a catalog is that large: see what made the file",
    }
    outcome.documents += flaw.kind == "unreadable-document"
    outcome.report.about(None)
    outcome.report.add(flaw.kind, Place(outcome.file, flaw.offset), flaw.message, fixes.get(flaw.kind))


def _report_unparsable(message: str, offset: int, fix: str | None, outcome: Outcome) -> None:
    outcome.report.about(None)
    said = f"the document does not parse: {message}"
    outcome.report.add("unreadable-document", Place(outcome.file, offset), said, fix)


def _report_remark(remark: Remark, offset: int, text: bytes, outcome: Outcome) -> None:
    place = Place(outcome.file, offset, remark.pointer)
    match remark.kind:
        case "duplicate-key":
            fix = "keep the one that is meant"
            outcome.report.add(remark.kind, place, f"{remark.pointer[-1]} stands here twice", fix)
        case "lossy-number":
            message = "opm turns this number into a float64, which does not hold it"
            outcome.report.add(remark.kind, place, message, "quote it, if it may be text")
        case "leftover":
            at = Place(outcome.file, offset + byte_offset(text, remark.at))
            message = "what follows is never read: opm reads one document up to the next line with ---"
            outcome.report.add("bad-separator", at, message, "put --- on a line of its own before it")
