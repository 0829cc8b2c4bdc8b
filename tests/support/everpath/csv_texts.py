"""Random CSVs as text, in every style of PyYAML, and damaged."""

from __future__ import annotations

__all__ = ["csv_texts", "damaged_csv_texts"]

from typing import Any

import yaml
from hypothesis import strategies as st

_WORDS = st.sampled_from(
    (
        "op.v1.0.0",
        "1.2.3",
        "1.0",
        "007",
        "yes",
        "~",
        "",
        " ",
        "it's",
        'say "hi"',
        "a: b",
        "x # y",
        "- z",
        ">=1.0.0 <1.2.0",
        "{a: b}",
        "[]",
        "two\nlines",
        "two\n\n  lines: at last\n",
        "  replaces: other.v1\n",
        "tab\there",
        "ünï\u2028code",
        "\u00a0",
        "a\\b",
        "a very long text that goes on and on, so that it is folded: 'really' and \"truly\" folded",
    )
)
_VALUES: st.SearchStrategy[Any] = st.recursive(
    _WORDS | st.none() | st.integers(0, 9) | st.booleans(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=3),
    max_leaves=6,
)
_PLAIN = st.sampled_from(
    ("op.v1.0.0", "1.2.3", ">=1.0.0 <1.2.0", "<2.0.0", "2024-01-31", "beta 1", "it's", "")
)
_ANNOTATIONS = (
    "olm.skipRange",
    "olm.substitutesFor",
    "olm.properties",
    "alm-examples",
    "description",
    "a.b/c",
)
_SPEC = ("version", "replaces", "release", "install", "links", "description", "icon", "skipRange", "labels")


def _rarely(draw: st.DrawFn, usual: st.SearchStrategy[Any], odd: st.SearchStrategy[Any]) -> Any:
    """Return mostly the usual value: a text with an oddity at the top is not scanned any further."""
    return draw(odd if draw(st.integers(0, 11)) == 11 else usual)


@st.composite
def _mappings(draw: st.DrawFn, keys: tuple[str, ...], plain: tuple[str, ...]) -> dict[str, Any]:
    """Return some of the keys, with strings where required and any value otherwise."""
    found: dict[str, Any] = {}
    for usual in draw(st.lists(st.sampled_from(keys), unique=True, max_size=6)):
        key = _rarely(draw, st.just(usual), _WORDS)
        found[key] = _rarely(draw, _PLAIN if key in plain else _WORDS | _VALUES, _VALUES)
    return found


@st.composite
def _documents(draw: st.DrawFn) -> dict[str, Any]:
    annotations = _rarely(draw, _mappings(_ANNOTATIONS, _ANNOTATIONS[:3]), _VALUES)
    metadata = {"name": _rarely(draw, _PLAIN, _WORDS), "annotations": annotations, "labels": draw(_VALUES)}
    spec = draw(_mappings(_SPEC, _SPEC[:3]))
    spec["skips"] = _rarely(draw, st.lists(_PLAIN, max_size=3), _VALUES)
    document = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion"}
    more = _rarely(draw, st.just({}), st.dictionaries(_WORDS, _VALUES, max_size=1))
    return {**document, "metadata": metadata, "spec": spec, **more}


@st.composite
def csv_texts(draw: st.DrawFn) -> str:
    """Return a CSV with any values, in any style."""
    text: str = yaml.dump(
        draw(_documents()),
        default_style=_rarely(draw, st.none(), st.sampled_from(('"', "'", "|", ">"))),
        default_flow_style=_rarely(draw, st.just(False), st.none()),
        width=draw(st.sampled_from((10, 80, 1000))),
        indent=draw(st.sampled_from((2, 2, 4, 3))),
        allow_unicode=draw(st.booleans()),
        sort_keys=draw(st.booleans()),
        explicit_start=draw(st.booleans()),
        explicit_end=_rarely(draw, st.just(False), st.just(True)),
    )
    return _rarely(draw, st.just(text), st.just(text.replace("\n", "\r\n")))  # type: ignore[no-any-return]


_USUAL = """\
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  annotations:
    alm-examples: |-
      [
        {"a": "b"}
      ]
    olm.skipRange: '<1.0.0'
    text: some words
      go on
  name: op.v1.0.0
spec:
  description: |
    It's a "thing"
      with: colons
  install:
    spec:
      deployments:
      - name: x
        args: ["a", 'b']
        text: "folded
          text"
        other: 'folded

          text'
    strategy: deployment
  keywords: [a, 'b', "c"]
  links:
  - name: A
    url: https://x
  skips:
  - op.v0.9.1
  version: 1.0.0
""".splitlines()

# Lines that open, close or look like YAML structures.
_PIECES = """\
# it's a comment
  # a comment: "here
---
...
  replaces: r
  replaces: r'
  replaces: "r
  replaces: r,
  replaces: r]
  replaces: [r]]
  replaces: r # no
  'replaces': r
  "replaces": r
  replaces : r
    replaces: r
 replaces: r
  version: 9.9.9 # not this
  version: 1.0
  more:
    - x'
    - y
    - "a\\" open
    - 'it''s open
    text: "open
    text: 'open
    text: &x "open
    text: ''
    text: ' '
    text: x # "
    flow: {a: b,
    flow: {a: "}"
  flow: [a,
  flow: {a: b} x
  ]
  }
      b}
      closed"
      closed'
  closed'
  x: closed"
  x: closed'
    "
    '
  '
  "
  word
    word
    olm.skipRange: '<9.0.0'
  annotations:
metadata:
spec:
  text: |
  text: >-
    text: |2
  text: |1
  <<: {replaces: merged.v1}
  ? replaces
  : other.v3
  skips: &a [x]
  - a
- a
  -a: b
  on: x
  ,
  a: ,

\t
  \treplaces: tabbed.v1
""".splitlines()


@st.composite
def damaged_csv_texts(draw: st.DrawFn) -> str:
    """Return a CSV with lines that are inserted, removed or indented differently."""
    lines = list(draw(st.just(_USUAL) | csv_texts().map(lambda text: text.split("\n"))))
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(lines)))
        match draw(st.sampled_from(("insert", "insert", "insert", "drop", "dedent", "indent", "quote"))):
            case "insert":
                lines[at:at] = draw(st.lists(st.sampled_from(_PIECES), min_size=1, max_size=3))
            case "drop":
                del lines[at : at + 1]
            case "dedent":
                lines[at : at + 1] = [line.removeprefix("  ") for line in lines[at : at + 1]]
            case "indent":
                lines[at : at + 1] = ["  " + line for line in lines[at : at + 1]]
            case "quote":
                lines[at : at + 1] = [line + draw(st.sampled_from("\"'")) for line in lines[at : at + 1]]
    return "\n".join(lines)
