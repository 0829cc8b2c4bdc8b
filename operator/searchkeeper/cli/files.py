"""Manifests in files, as an API server would have them, or a word about why it would not."""

from __future__ import annotations

__all__ = ["MISSHAPEN", "manifests", "misshapen"]

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
from searchkeeper.cli.errors import Unreadable
from searchkeeper.desired.names import GROUP
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.kubernetes.rest_mapping import KINDS

# What reading an object may end with that no API server would have stored.
MISSHAPEN: Final = (AttributeError, IndexError, KeyError, TypeError, ValueError)
# As kubectl reads them of a folder.
_SUFFIXES: Final = (".yaml", ".yml", ".json")
_OBJECTS: Final = (
    "-f takes objects with apiVersion, kind and metadata.name, as `kubectl get -o yaml` prints them"
)
_API: Final = f"{GROUP}/v1alpha1"
_MERGE: Final = "tag:yaml.org,2002:merge"
_OURS: Final = tuple(kind.name for kind in KINDS if kind.api == _API)


class _Place(NamedTuple):
    """Where a manifest stands: which document of a text, and which path in that."""

    file: str
    text: str
    document: int
    path: str

    def line(self, inside: str) -> int:
        """Of the deepest part of a path that is there."""
        documents = yaml.compose_all(self.text, Loader=yaml.SafeLoader)
        node = next(islice(documents, self.document, None))
        line = node.start_mark.line
        for step in re.findall(r"[^.\[\]]+", f"{self.path}.{inside}"):
            found = _child(node, step)
            if found is None:
                break
            line, node = found
        return int(line) + 1


def manifests(file: str, namespace: str) -> Iterator[Manifest]:
    """`-` is standard input, a folder every manifest in it. Raises Unreadable, also for what is refused.

    As with kubectl, `namespace` is that of objects that name none.
    """
    for each in _in_folder(file) if file != "-" and Path(file).is_dir() else [file]:
        text = _text(each)
        for number, document in enumerate(_documents(text, each)):
            for path, manifest in _items(document):
                place = _Place(each, text, number, path)
                yield _accepted(_whole(manifest, place, namespace), place)


def misshapen(file: str, culprit: Key | None, error: Exception) -> str:
    """Of what is nobody's definition here: which object it is, and what it lacks."""
    who = "something in it" if culprit is None else str(culprit)
    what = f"{error.args[0]} is missing" if isinstance(error, KeyError) else "a part has another shape"
    return f"{file}: {who} is not as an API server would have stored it: {what}"


def _in_folder(folder: str) -> list[str]:
    found = sorted(str(each) for each in Path(folder).iterdir() if each.suffix in _SUFFIXES)
    if not found:
        raise Unreadable(f"{folder}: no file in it ends in {', '.join(_SUFFIXES)}", "name the file itself")
    return found


def _text(file: str) -> str:
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise Unreadable(f"{file}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        message = f"{file}: this is no text: byte {error.start + 1} is not UTF-8"
        raise Unreadable(
            message, "manifests are YAML or JSON, as `kubectl get -o yaml` gives them"
        ) from error


def _documents(text: str, file: str) -> list[Any]:
    try:
        return list(_constructed(yaml.SafeLoader(text), file))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark is not None else file
        raise Unreadable(f"{where}: this is no YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # Characters that no YAML has, a date that never was, brackets without end.
        raise Unreadable(f"{file}: this is no YAML: {str(error).splitlines()[0]}") from error


def _constructed(loader: yaml.SafeLoader, file: str) -> Iterator[Any]:
    """Raises Unreadable for keys that stand twice: PyYAML takes the last one without a word."""
    while loader.check_node() and (node := loader.get_node()) is not None:
        # Constructing comes later: it puts what `<<` brings among the keys that are written.
        reasons = "".join(
            f"\n  line {line}: {path}: is in line {first} already: keep one of them"
            for line, path, first in sorted(_doubles(node))
        )
        if reasons:
            raise Unreadable(f"{file}: an API server would refuse what is there twice:{reasons}")
        yield loader.construct_document(node)


def _doubles(root: yaml.Node) -> Iterator[tuple[int, str, int]]:
    """Keys that their mapping has already: in which line, with which path, and the line of the first."""
    ahead, known = [("", root)], set[int]()
    while ahead:
        path, node = ahead.pop()
        # What has an anchor is looked at once, however often it is referred to, also by itself.
        if id(node) in known:
            continue
        known.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            ahead += ((f"{path}[{number}]", each) for number, each in enumerate(node.value))
        elif isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            # A key that is no scalar is none that an object could have.
            for key, value in (each for each in node.value if isinstance(each[0], yaml.ScalarNode)):
                line, inside = key.start_mark.line + 1, f"{path}.{key.value}".removeprefix(".")
                ahead.append((inside, value))
                if key.value in lines and key.tag != _MERGE:
                    yield line, inside, lines[key.value]
                lines.setdefault(key.value, line)


def _items(document: Any) -> Iterable[tuple[str, Any]]:
    """Those of a list, or what there is."""
    match document:
        case _ if not document:
            return []
        case {"items": [*items]}:
            return [(f"items[{number}]", each) for number, each in enumerate(items)]
        case {"items": other}:
            return [("items", other)]
        case _:
            return [("", document)]


def _accepted(manifest: Manifest, place: _Place) -> Manifest:
    wrong = [*_misnamed(manifest)] or schema_errors(manifest)
    if wrong:
        reasons = "".join(f"\n  line {place.line(each.path)}: {each}" for each in wrong)
        raise Unreadable(f"{place.file}: an API server would refuse {Key.of(manifest)}:{reasons}")
    return manifest


def _misnamed(manifest: Manifest) -> Iterator[FieldError]:
    """Of what calls itself one of ours: whether there is such a thing."""
    api, kind = manifest["apiVersion"], manifest["kind"]
    is_ours = api.partition("/")[0] == GROUP
    if api != _API and (is_ours or kind in _OURS):
        yield FieldError("apiVersion", f"{api} is none that is known here: write {_API}")
    if is_ours and kind not in _OURS:
        near = get_close_matches(kind, _OURS, n=1)
        hint = f": did you mean {near[0]}?" if near else ""
        yield FieldError("kind", f"{kind} is none of {', '.join(_OURS)}{hint}")


def _whole(manifest: Any, place: _Place, namespace: str) -> Mapping[str, Any]:
    """As if an API server had it: with a UID, versions and a namespace, whatever a person has left out."""
    match manifest:
        case {"apiVersion": str(), "kind": str(kind), "metadata": {"name": str(name), **others}}:
            made = {"uid": f"{kind}/{name}", "resourceVersion": "1", "generation": 1}
            # None and "" are how templates name none.
            called = {"name": name, "namespace": others.get("namespace") or namespace}
            return {**_encoded(manifest), "metadata": {**made, **others, **called}}
        case _:
            raise _no_object(manifest, place)


def _encoded(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """A Secret's plain texts among its data, as an API server stores them."""
    match manifest:
        case {"kind": "Secret", "stringData": {**plain}, **others}:
            data = {name: base64.b64encode(str(text).encode()).decode() for name, text in plain.items()}
            return {**others, "kind": "Secret", "data": {**(manifest.get("data") or {}), **data}}
        case _:
            return manifest


def _no_object(manifest: Any, place: _Place) -> Unreadable:
    match manifest:
        case {"schema": str(schema)} if schema.startswith("olm."):
            hint = f"{schema} is of an OLM catalog, which `everpath list packages` reads; {_OBJECTS}"
        case _:
            hint = _OBJECTS
    lacks, where = _lacking(manifest)
    return Unreadable(f"{place.file}:{place.line(where)}: this is no Kubernetes object: {lacks}", hint)


def _lacking(manifest: Any) -> tuple[str, str]:
    """What, and the path of it."""
    if not isinstance(manifest, Mapping):
        return f"it is {'a list' if isinstance(manifest, list) else 'text or a number'}", ""
    missing = [name for name in ("apiVersion", "kind") if not isinstance(manifest.get(name), str)]
    lacks = (*missing, "metadata.name")[0]
    return f"{lacks} is missing, or no text", lacks


def _child(node: yaml.Node, step: str) -> tuple[int, yaml.Node] | None:
    """A part of a node, and the line in which it begins."""
    if isinstance(node, yaml.MappingNode):
        found = (each for each in node.value if each[0].value == step)
        return next(((key.start_mark.line, value) for key, value in found), None)
    if isinstance(node, yaml.SequenceNode) and step.isdecimal() and int(step) < len(node.value):
        return node.value[int(step)].start_mark.line, node.value[int(step)]
    return None
