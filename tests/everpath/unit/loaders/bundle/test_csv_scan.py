"""Shapes of YAML that a scan reads, those it leaves to the parser, and traps that look like keys."""

from __future__ import annotations

import pytest

from everpath.loaders.bundle.csv_summary import scan_csv, summarize_csv, summarize_parsed_csv
from everpath.loaders.bundle.summaries import CsvSummary, split_keys
from everpath.parsing.first_document import first_document
from everpath.parsing.yaml_outline import UnsupportedLayout

HEAD = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n"


def _csv(*, annotations: str = "    a: b\n", metadata: str = "", spec: str = "") -> str:
    """A CSV with lines put in where the graph is decided."""
    return (
        f"{HEAD}metadata:\n  annotations:\n{annotations}  name: op.v1.0.0\n{metadata}"
        f"spec:\n{spec}  version: 1.0.0\n"
    )


def _parsed(text: str) -> CsvSummary | None:
    document = first_document(text.encode())
    return summarize_parsed_csv(document.value, document.duplicate_keys)


FAMILIAR = {
    "nothing special": _csv(),
    "a document marker and comments": "# licence\n\n---\n# more\n" + _csv(),
    "four blanks": _csv().replace("  ", "    "),
    "comments between keys": _csv(
        spec="  # replaces: no\n  replaces: a # yes\n    # further in\n# at the start\n"
    ),
    "single quotes": _csv(spec="  replaces: 'it''s'\n"),
    "double quotes": _csv(spec='  replaces: "a b"  # c\n'),
    "quoted keys": _csv(annotations="    'olm.skipRange': '<1.0.0'\n    \"x\": y\n"),
    "null": _csv(spec="  replaces:\n  skips:\n"),
    "an empty list": _csv(spec="  skips: []\n"),
    "a list further in": _csv(spec="  skips:\n    - a\n\n    # b\n    - 'c'\n"),
    "a list at the key": _csv(spec="  skips:\n  - a\n  - b # c\n"),
    "a block scalar with anything in it": _csv(
        spec="  description: |\n    it's \"open\n\n     replaces: x\n"
    ),
    "a folded scalar": _csv(annotations="    a: >-\n      b\n    olm.skipRange: <1.0.0\n"),
    "a plain scalar over lines": _csv(spec="  description: it's plain\n    text, really\n"),
    "a quoted scalar over lines": _csv(spec="  description: 'it''s\n    two lines'\n"),
    "a quoted scalar that ends on its own line": _csv(annotations="    a: 'b\n\n      '\n    c: d\n"),
    "a quoted scalar below its key": _csv(spec='  description:\n    "some\n    text"\n'),
    "a quoted scalar deep down": _csv(spec="  install:\n    a: \"b\n      c\"\n    d: 'e\n      f'\n"),
    "a flow collection on a line": _csv(spec="  keywords: ['a', \"b\", c]\n  labels: {a: [b]}\n"),
    "escaped quotes": _csv(spec='  install:\n    a: "b\\"c"\n    d: \'it\'\'s\'\n    e: ""\n'),
    "tabs in text": _csv(spec="  description: |\n    a\tb\n"),
    "other letters": _csv(spec="  displayName: Опера́тор “x”\n"),
    "no annotations": f"{HEAD}metadata:\n  name: a\nspec:\n  version: 1.0.0\n",
    "null annotations": f"{HEAD}metadata:\n  annotations:\n  name: a\nspec:\n  version: 1.0.0\n",
    "more top-level keys": _csv() + "status:\n  version: 2.0.0\nlist:\n- a: b\n  c: d\n",
    "no line end at the end": _csv().rstrip("\n"),
}


@pytest.mark.parametrize("text", FAMILIAR.values(), ids=FAMILIAR)
def test_scan_reads(text: str) -> None:
    assert scan_csv(text.encode()) == _parsed(text)


UNFAMILIAR = {
    "another kind": "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\nspec:\n  a: b\n",
    "flow style": '{"kind": "ClusterServiceVersion", "metadata": {"name": "a"}, "spec": {"version": "1"}}',
    "two documents": _csv() + "---\na: b\n",
    "a document end": _csv() + "...\n",
    "Windows line ends": _csv().replace("\n", "\r\n"),
    "a byte order mark": "\ufeff" + _csv(),
    "a tab as indentation": _csv(spec="  description: 'a\n\tb'\n"),
    "line ends of YAML 1.1": _csv(spec="  description: |\n    a\u2028  replaces: b\n"),
    "a key twice": _csv(spec="  version: 0.9.0\n"),
    "an annotation twice": _csv(annotations="    olm.skipRange: <1.0.0\n    olm.skipRange: <2.0.0\n"),
    "metadata twice": _csv() + "metadata:\n  name: b\n",
    "a version that is a number": _csv(spec="  replaces: 1.0\n"),
    "a version that is a date to some": _csv(spec="  replaces: 017\n"),
    "a key that is a truth value": _csv(spec="  y: z\n"),
    "an anchor": _csv(spec="  replaces: &a b\n"),
    "an alias": _csv(annotations="    a: &x b\n    olm.skipRange: *x\n"),
    "a merge": _csv(annotations="    a: b\n    <<: {c: d}\n"),
    "a tag": _csv(spec="  replaces: !!str 1\n"),
    "a complex key": _csv(spec="  ? replaces\n  : b\n"),
    "a blank before the colon": _csv(spec="  replaces : b\n"),
    "an escape": _csv(spec='  replaces: "a\\x41"\n'),
    "a value on the next line": _csv(spec="  replaces:\n    b\n"),
    "a value over lines": _csv(spec="  replaces: b\n    c\n"),
    "a list in a line": _csv(spec="  skips: [a]\n"),
    "a list with uneven items": _csv(spec="  skips:\n  - a\n    - b\n"),
    "annotations in a line": f"{HEAD}metadata:\n  annotations: {{a: b}}\n  name: c\nspec:\n  a: b\n",
    "one blank": _csv().replace("  version", " version"),
    "everything indented": "\n".join(f"  {line}" for line in _csv().split("\n")),
}


@pytest.mark.parametrize("text", UNFAMILIAR.values(), ids=UNFAMILIAR)
def test_scan_leaves_to_the_parser(text: str) -> None:
    with pytest.raises(UnsupportedLayout):
        scan_csv(text.encode())


# Each holds a line that a careless reader takes for a key of the CSV. libyaml reads all of them.
TRAPS = {
    "in a double-quoted scalar": _csv(spec='  install:\n    a: "b\n  replaces: wrong\n  links:\n    - c"\n'),
    "in a single-quoted scalar": _csv(spec="  install:\n    a: 'b\n  replaces: wrong\n  links:\n    - c'\n"),
    "in a quoted scalar of its own line": _csv(spec='  displayName: "a\n  replaces: wrong"\n'),
    "in a quoted scalar below its key": _csv(spec='  install:\n    a:\n      "b\n  links:\n    - c"\n'),
    "in a quoted scalar behind an anchor": _csv(spec='  install:\n    a: &x "b\n  links:\n    - c"\n'),
    "behind an escaped quote": _csv(spec='  install:\n    a: "b\\"\n  links:\n    - c"\n'),
    "behind a doubled quote": _csv(spec="  install:\n    a: 'it''s\n  links:\n    - c'\n"),
    "behind an empty string": _csv(spec="  install:\n    a: 'it: ''\n  links:\n    - c'\n"),
    "behind a comment": _csv(spec="  install:\n    a: # it\n      'b\n  links:\n    - c'\n"),
    "in an annotation": _csv(annotations='    a: "b\n    olm.skipRange: wrong\n    c: |\n      d"\n'),
    "in a flow mapping": _csv(spec="  install: {a: b,\n  replaces: wrong}\n"),
    "in a flow mapping before a comma": _csv(spec="  install: {a: b,\n  replaces: wrong,\n  c: d}\n"),
    "in a flow mapping that ends below": _csv(spec="  install: {a: b,\n  replaces: wrong\n      }\n"),
    "in a flow mapping with flow values": _csv(spec="  install: {a: b,\n  links: [c]}\n"),
    "in a flow mapping over lines": _csv(spec="  install: {a: b,\n  links: c\n    d}\n"),
    "in a flow mapping with quotes": _csv(spec='  install: {a: b,\n  links: "c"}\n'),
    "in a flow mapping further in": _csv(spec="  install:\n    a: {b: c,\n  links: d}\n    e: f\n"),
}


@pytest.mark.parametrize("text", TRAPS.values(), ids=TRAPS)
def test_what_looks_like_a_key_is_none(text: str) -> None:
    facts = summarize_csv(text.encode())
    assert facts == _parsed(text)
    assert facts is not None
    assert facts.replaces is None
    assert not {"links", "replaces", "olm.skipRange"} & set(split_keys(facts.spec_keys))


def test_of_a_repeated_key_the_last_value_counts() -> None:
    facts = summarize_csv(_csv(spec="  replaces: a\n  replaces: b\n").encode())
    assert facts is not None
    assert facts.replaces == "b"
    (problem,) = facts.problems
    assert (problem.kind, problem.pointer) == ("duplicate-key", ("spec", "replaces"))
    assert problem.message == "spec.replaces is written more than once: the last value counts"


def test_a_key_repeated_three_times_is_reported_once() -> None:
    facts = summarize_csv(_csv(spec="  replaces: a\n" * 3).encode())
    assert facts is not None
    assert len(facts.problems) == 1


def test_keys_repeated_further_down_are_not_reported_whether_parsed_or_not() -> None:
    below = "  install:\n    a: 1\n    a: 2\n"
    for more in ("", '  displayName: "\\x41"\n'):
        facts = summarize_csv(_csv(spec=below + more).encode())
        assert facts is not None
        assert facts.problems == ()


def test_a_file_of_another_kind_is_no_csv() -> None:
    assert summarize_csv(b"kind: Service") is None
    assert summarize_csv(b"") is None
    assert summarize_csv(b"- kind: ClusterServiceVersion") is None
