"""Random catalogs as text, in all styles of YAML and JSON."""

from __future__ import annotations

__all__ = ["Style", "documents", "dumped", "styles"]

import base64
import json
from dataclasses import dataclass
from typing import Any

import yaml
from hypothesis import strategies as st

from everpath.parsing.yaml_scalars import resolve
from tests.support.everpath.yaml_texts import json_values, scalars

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Style:
    """How a catalog is written."""

    is_json: bool
    indent: int | None
    is_indented_list: bool
    has_sorted_keys: bool
    width: int


styles = st.builds(
    Style,
    is_json=st.booleans(),
    indent=st.sampled_from((None, 2, 4)),
    is_indented_list=st.booleans(),
    has_sorted_keys=st.booleans(),
    width=st.sampled_from((20, 80, 10_000)),
)

_NAMES = st.sampled_from(("op", "op.v1.0.0", "op.v1.0.1", "1.0", "on", "é", "")) | scalars()
_RANGES = st.sampled_from((">=1.0.0 <1.1.0", "<1.0.0", "1.x", "", ">=1.0.0 || <0.1.0"))


@st.composite
def _entry(draw: st.DrawFn) -> Document:
    entry: Document = {"name": draw(_NAMES)}
    optional = {"replaces": _NAMES, "skips": st.lists(_NAMES, max_size=3), "skipRange": _RANGES}
    for key, strategy in optional.items():
        if draw(st.booleans()):
            entry[key] = draw(strategy)
    return entry


_GVKS = st.builds(
    lambda kind, version: {"type": "olm.gvk", "value": {"group": "a.b", "kind": kind, "version": version}},
    st.sampled_from(("Thing", "On", "No")),
    st.sampled_from(("v1", "v1alpha1", "1")),
)
_IDENTITIES = st.builds(
    lambda package, version: {"type": "olm.package", "value": {"packageName": package, "version": version}},
    st.sampled_from(("op", "on", "1.0")),
    st.sampled_from(("1.0.0", "1.0.0-rc.1+b", "1.0", "v1", "")),
)
_METADATA = st.builds(lambda value: {"type": "olm.csv.metadata", "value": value}, json_values(30))
_OBJECTS = st.builds(
    lambda data: {"type": "olm.bundle.object", "value": {"data": base64.b64encode(data).decode()}},
    st.sampled_from((b"{}", b"a: b", b'{"kind": "Thing"}' * 40)),
)
_OTHERS = st.builds(lambda value: {"type": "olm.maxOpenShiftVersion", "value": value}, json_values())
_PROPERTIES = st.lists(st.one_of(_GVKS, _GVKS, _IDENTITIES, _METADATA, _OBJECTS, _OTHERS), max_size=6)
_IMAGES = st.fixed_dictionaries(
    {"name": _NAMES, "image": st.sampled_from(("", "registry.example/a/b:v1", "q:1@sha256:0"))}
)


def _bundles() -> st.SearchStrategy[Document]:
    fields = {"schema": st.just("olm.bundle"), "name": _NAMES, "package": _NAMES, "properties": _PROPERTIES}
    return st.fixed_dictionaries(
        fields, optional={"image": _NAMES, "relatedImages": st.lists(_IMAGES, max_size=3)}
    )


def _channels() -> st.SearchStrategy[Document]:
    fields = {"schema": st.just("olm.channel"), "name": _NAMES, "package": _NAMES}
    return st.fixed_dictionaries({**fields, "entries": st.lists(_entry(), max_size=4)})


_PACKAGES = st.fixed_dictionaries(
    {"schema": st.just("olm.package"), "name": _NAMES, "defaultChannel": _NAMES},
    optional={"description": st.sampled_from(("text", "two\nlines", "a: b # c"))},
)
_CUSTOM = st.fixed_dictionaries({"schema": st.just("custom"), "package": _NAMES, "data": json_values()})

documents = st.lists(
    st.one_of(_bundles(), _bundles(), _channels(), _PACKAGES, _CUSTOM), min_size=1, max_size=5
)


class _Dumper(yaml.SafeDumper):
    """Quotes texts that go-yaml would read as numbers; PyYAML has other rules."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "'" if resolve(text) is not text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


class _IndentedLists(_Dumper):
    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        return super().increase_indent(flow, False)


def dumped(documents: list[Document], style: Style) -> bytes:
    """Return the documents as text."""
    if style.is_json:
        separator = "\n" if style.indent is None else "\n\n"
        return separator.join(
            json.dumps(d, indent=style.indent, ensure_ascii=False) for d in documents
        ).encode()
    dumper = _IndentedLists if style.is_indented_list else _Dumper
    texts = (
        yaml.dump(d, Dumper=dumper, sort_keys=style.has_sorted_keys, width=style.width, allow_unicode=True)
        for d in documents
    )
    return "".join(f"---\n{text}" for text in texts).encode()
