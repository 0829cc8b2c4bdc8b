"""Linting never fails, whatever a bundle contains: there are findings, not tracebacks."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from everpath.go_types.properties import PROPERTY_TYPES
from everpath.rules.cel import CelError
from everpath.rules.cel import check as compiled
from everpath.rules.constraints import json_size
from everpath.rules.image_references import corrected_reference, reference_error
from everpath.rules.kubernetes_names import label_error, subdomain_error
from everpath.rules.lint import lint
from tests.support.everpath.documents import bundle, catalog, channel, package

KEYS = [
    "packageName",
    "version",
    "versionRange",
    "release",
    "gvk",
    "package",
    "all",
    "any",
    "not",
    "cel",
    "rule",
    "constraints",
]
SIGNS = [
    "properties",
    "p",
    ".",
    "[",
    "]",
    "(",
    ")",
    ",",
    "0",
    "'a'",
    "exists(",
    "p,",
    "==",
    "&&",
    "!",
    "true",
    "size",
    "has(",
    "?",
    ":",
    "{",
    "}",
    "in",
    "+",
    "-",
    "1.5",
    "`a`",
]

NAMES = st.text(max_size=4) | st.sampled_from(KEYS)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
TYPES = st.sampled_from([*PROPERTY_TYPES, "olm.constraint", "olm.deprecated", "example.com"])
CEL = st.lists(st.sampled_from(SIGNS)).map(" ".join)


@given(TYPES, VALUES)
def test_any_property_can_be_linted(kind: str, value: object) -> None:
    made = catalog(package(), channel("op.v1.0.0"), bundle("op.v1.0.0", "", {"type": kind, "value": value}))
    lint(made)


@given(st.text(), st.text(), st.text(), st.text())
def test_any_name_version_and_image_can_be_linted(name: str, version: str, image: str, owner: str) -> None:
    made = bundle(name, version, package=owner, image=image)
    lint(catalog(package(owner), channel(name, package=owner), made))


@given(st.text() | CEL)
def test_any_cel_rule_compiles_or_has_an_error_with_its_position(text: str) -> None:
    fault = _fault(text)
    assert fault is None or 0 <= fault.start <= len(text)


def _fault(text: str) -> CelError | None:
    try:
        compiled(text)
    except CelError as error:
        return error
    return None


@given(st.text(alphabet="aA0./:@-_ ") | st.text())
def test_fixed_image_reference_is_valid(text: str) -> None:
    meant = corrected_reference(text)
    assert meant is None or reference_error(meant) is None


@given(st.text(alphabet="aA0.-_"))
def test_every_label_is_a_subdomain(name: str) -> None:
    assert label_error(name) is not None or subdomain_error(name) is None


@given(VALUES)
def test_the_size_of_a_constraint_is_that_of_its_compact_json(value: object) -> None:
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert json_size(value) == len(compact.encode(errors="surrogatepass"))
