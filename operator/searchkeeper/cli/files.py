"""Load manifests from files, and validate them as an API server would."""

from __future__ import annotations

__all__ = ["MALFORMED_OBJECT_ERRORS", "load_manifests", "malformed_object_message"]

import base64
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from searchkeeper.api.validation import FieldError, schema_errors
from searchkeeper.cli.errors import ReadWriteError
from searchkeeper.desired.names import GROUP
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.kubernetes.rest_mapping import KINDS

# Errors of code that reads an object which no API server would have stored.
MALFORMED_OBJECT_ERRORS: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)
# kubectl loads the same files of a folder.
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_OBJECTS_HINT: Final = (
    "-f takes objects with apiVersion, kind and metadata.name, as `kubectl get -o yaml` prints them"
)
_API: Final = f"{GROUP}/v1alpha1"
_MERGE_TAG: Final = "tag:yaml.org,2002:merge"
_OWN_KINDS: Final = tuple(kind.name for kind in KINDS if kind.api == _API)


class _Location(NamedTuple):
    """The place of a manifest: a document of a file, and the path in that document."""

    file: str
    text: str
    document: int
    path: str

    def line(self, path: str) -> int:
        """The line of the deepest part of `path` that exists."""
        documents = yaml.compose_all(self.text, Loader=yaml.SafeLoader)
        node = next(islice(documents, self.document, None))
        line = node.start_mark.line
        for step in re.findall(r"[^.\[\]]+", f"{self.path}.{path}"):
            child = _child(node, step)
            if child is None:
                break
            line, node = child
        return int(line) + 1


def load_manifests(path: str, namespace: str) -> Iterator[Manifest]:
    """Load and validate the manifests of a file, of a folder, or of standard input (`-`).

    An object without a namespace gets `namespace`, as with kubectl. Raises ReadWriteError.
    """
    files = [path]
    if path != "-" and Path(path).is_dir():
        files = sorted(str(each) for each in Path(path).iterdir() if each.suffix in _SUFFIXES)
        if not files:
            raise ReadWriteError(
                f"{path}: the folder has no {', '.join(_SUFFIXES)} file", "pass the file itself to -f"
            )
    for file in files:
        text = _read_text(file)
        for number, document in enumerate(_parse_documents(text, file)):
            for item_path, item in _items(document):
                location = _Location(file, text, number, item_path)
                manifest = _with_server_fields(item, location, namespace)
                errors = [*_unknown_kind_errors(manifest)] or schema_errors(manifest)
                if errors:
                    lines = "".join(f"\n  line {location.line(error.path)}: {error}" for error in errors)
                    raise ReadWriteError(f"{file}: {Key.of(manifest)} is invalid:{lines}")
                yield manifest


def malformed_object_message(files: str, culprit: Key | None, error: Exception) -> str:
    """The message for an object of a built-in kind, for which we have no schema."""
    subject = "an object" if culprit is None else str(culprit)
    cause = f"{error.args[0]} is missing" if isinstance(error, KeyError) else "a field has the wrong type"
    return f"{files}: {subject} is malformed: {cause}"


def _read_text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise ReadWriteError(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ReadWriteError(
            f"{file}: not a text file: byte {error.start + 1} is not UTF-8",
            "-f takes YAML or JSON, as `kubectl get -o yaml` prints it",
        ) from error


def _parse_documents(text: str, file: str) -> list[Any]:
    """Parse YAML or JSON. PyYAML keeps the last of two equal keys; here they are an error."""
    documents = []
    try:
        loader = yaml.SafeLoader(text)
        while loader.check_node() and (node := loader.get_node()) is not None:
            # Before the construction, which adds the keys of `<<` to the written ones.
            lines = "".join(
                f"\n  line {line}: {path}: duplicate of line {first}: remove one of them"
                for line, path, first in sorted(_duplicate_keys(node))
            )
            if lines:
                raise ReadWriteError(f"{file}: duplicate keys:{lines}")
            documents.append(loader.construct_document(node))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark is not None else file
        raise ReadWriteError(f"{place}: invalid YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # A control character, an impossible date, or thousands of nested brackets.
        raise ReadWriteError(f"{file}: invalid YAML: {str(error).splitlines()[0]}") from error
    return documents


def _duplicate_keys(root: yaml.Node) -> Iterator[tuple[int, str, int]]:
    """Each duplicate key: its line, its path, and the line of the first key."""
    pending, visited = [("", root)], set[int]()
    while pending:
        path, node = pending.pop()
        # An alias may refer to a node that contains it.
        if id(node) in visited:
            continue
        visited.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            pending += ((f"{path}[{number}]", item) for number, item in enumerate(node.value))
        elif isinstance(node, yaml.MappingNode):
            first_lines: dict[str, int] = {}
            # Keys of objects are scalars.
            for key, value in (pair for pair in node.value if isinstance(pair[0], yaml.ScalarNode)):
                line, key_path = key.start_mark.line + 1, f"{path}.{key.value}".removeprefix(".")
                pending.append((key_path, value))
                if key.value in first_lines and key.tag != _MERGE_TAG:
                    yield line, key_path, first_lines[key.value]
                first_lines.setdefault(key.value, line)


def _items(document: Any) -> Iterable[tuple[str, Any]]:
    """The objects of a document with their paths: the items of a List, or the document itself."""
    match document:
        case _ if not document:
            return []
        case {"items": [*items]}:
            return [(f"items[{number}]", item) for number, item in enumerate(items)]
        case {"items": other}:
            return [("items", other)]
        case _:
            return [("", document)]


def _with_server_fields(item: Any, location: _Location, namespace: str) -> Mapping[str, Any]:
    """Add what an API server adds: a UID, versions and a namespace. Raises ReadWriteError for no object."""
    match item:
        case {"apiVersion": str(), "kind": str(kind), "metadata": {"name": str(name), **others}}:
            defaults = {"uid": f"{kind}/{name}", "resourceVersion": "1", "generation": 1}
            # Templates render a missing namespace as null or "".
            identity = {"name": name, "namespace": others.get("namespace") or namespace}
            return {**_with_encoded_data(item), "metadata": {**defaults, **others, **identity}}
    if not isinstance(item, Mapping):
        problem, path = f"it is {'a list' if isinstance(item, list) else 'text or a number'}", ""
    else:
        texts = (name for name in ("apiVersion", "kind") if not isinstance(item.get(name), str))
        path = next(texts, "metadata.name")
        problem = f"{path} is missing or not a string"
    hint = _OBJECTS_HINT
    if isinstance(item, Mapping) and str(item.get("schema", "")).startswith("olm."):
        hint = f"{item['schema']} belongs to an OLM catalog, see `everpath list packages`; {hint}"
    raise ReadWriteError(f"{location.file}:{location.line(path)}: not a Kubernetes object: {problem}", hint)


def _with_encoded_data(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """A Secret with its stringData in data, as an API server stores it."""
    match manifest:
        case {"kind": "Secret", "stringData": {**plain}, **others}:
            data = {name: base64.b64encode(str(text).encode()).decode() for name, text in plain.items()}
            return {**others, "kind": "Secret", "data": {**(manifest.get("data") or {}), **data}}
        case _:
            return manifest


def _unknown_kind_errors(manifest: Manifest) -> Iterator[FieldError]:
    """Errors of an object of our API group that has another version or kind than the CRDs."""
    api, kind = manifest["apiVersion"], manifest["kind"]
    is_own_group = api.partition("/")[0] == GROUP
    if api != _API and (is_own_group or kind in _OWN_KINDS):
        yield FieldError("apiVersion", f"unknown version {api}: write {_API}")
    if is_own_group and kind not in _OWN_KINDS:
        similar = get_close_matches(kind, _OWN_KINDS, n=1)
        suggestion = f": did you mean {similar[0]}?" if similar else ""
        yield FieldError("kind", f"unknown kind {kind}; known are {', '.join(_OWN_KINDS)}{suggestion}")


def _child(node: yaml.Node, step: str) -> tuple[int, yaml.Node] | None:
    """The value of a key or an index, with the line in which it starts."""
    if isinstance(node, yaml.MappingNode):
        pairs = (pair for pair in node.value if pair[0].value == step)
        return next(((key.start_mark.line, value) for key, value in pairs), None)
    if isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
        return node.value[int(step)].start_mark.line, node.value[int(step)]
    return None
