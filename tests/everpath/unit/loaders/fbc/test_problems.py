"""A problem names its place and its remedy, and the rest of the catalog is read on."""

from __future__ import annotations

import pytest

from tests.support.everpath.loaded_catalogs import problems, read, read_lazily


def test_a_value_of_the_wrong_type_does_not_hide_the_others() -> None:
    assert problems("""
        schema: olm.channel
        name: 1.10
        package: op
        entries:
        - name: a
          skips: b
          replaces: on
        - c
    """) == [
        "non-string-name 2:7 name is a number, not text",
        "non-string-name 7:13 replaces is a boolean, not text",
        "wrong-type 6:10 skips is text, not a list",
        "wrong-type 8:3 text where a mapping is needed",
    ]


def test_what_was_not_text_is_kept_as_it_was_written() -> None:
    catalog = read("""
        schema: olm.channel
        name: 1.10
        package: op
        entries:
        - name: on
          skips: [2.0, b]
    """)
    (channel,) = catalog.packages[0].channels
    assert channel.name == "1.10"
    assert (channel.entries[0].name, channel.entries[0].skips) == ("on", ("2.0", "b"))
    assert [problem.fix for problem in catalog.problems] == [
        'quote it: "1.10"',
        'quote it: "on"',
        'quote it: "2.0"',
    ]


GOOD = "schema: olm.channel\npackage: op\nname: stable\nentries: []\n---\n"


@pytest.mark.parametrize("thorough", [False, True])
@pytest.mark.parametrize("odd", ["a: b: c\n", "# nothing\n", "--- x\nschema: x\n", "[]\n", "name: a\n"])
def test_a_document_that_says_no_package_has_not_that_of_the_one_before(odd: str, thorough: bool) -> None:
    (problem,) = read(GOOD + odd, thorough=thorough).problems
    assert (problem.package, problem.entry) == (None, None)


def test_nor_has_json() -> None:
    good = b'{"schema": "olm.bundle", "package": "op", "name": "a"}\n'
    (problem,) = read(good * 2 + b'{"schema": x}').problems
    assert (problem.kind, problem.package, problem.entry) == ("unreadable-document", None, None)


def test_a_key_that_stands_twice_is_reported_for_the_package_of_its_document() -> None:
    (problem,) = read(GOOD + "schema: olm.package\nname: po\nname: po\n").problems
    assert (problem.kind, problem.package) == ("duplicate-key", "po")


@pytest.mark.parametrize(
    ("odd", "fix"),
    [
        ("op.v0.9.0", "write a list: [op.v0.9.0]"),
        ("'[op.v0.9.0]'", "write a list: [op.v0.9.0]"),
        ("{}", None),
    ],
)
def test_skips_that_are_no_list_are_told_how_to_be_one(odd: str, fix: str | None) -> None:
    text = f"schema: olm.channel\npackage: op\nname: s\nentries:\n- name: a\n  skips: {odd}\n"
    (problem,) = read(text).problems
    assert (problem.kind, problem.fix) == ("wrong-type", fix)


def test_two_spellings_of_a_key_within_an_entry_are_one_given_twice() -> None:
    entry = "- {name: a, skipRange: <1.0.0, SkipRange: <2.0.0, SKIPRANGE: <3.0.0}"
    found = read(f"schema: olm.channel\npackage: op\nname: s\nentries:\n{entry}\n")
    assert found.packages[0].channels[0].entries[0].skip_range == "<1.0.0"
    assert [(p.kind, p.message, p.place.pointer[-1]) for p in found.problems] == [
        ("duplicate-key", "SKIPRANGE and SkipRange are one key to opm, which takes SkipRange", "SKIPRANGE"),
        ("duplicate-key", "SkipRange and skipRange are one key to opm, which takes skipRange", "SkipRange"),
    ]
    assert {p.fix for p in found.problems} == {"keep one, called skipRange"}


def test_a_problem_knows_its_package_and_entry() -> None:
    text = """
        schema: olm.channel
        name: stable
        package: op
        entries: [{name: a, skip: b}]
    """
    (problem,) = read(text).problems
    assert (problem.kind, problem.fix, problem.entry) == ("misspelled-key", "write skips", "a")
    (problem,) = read("schema: olm.bundle\npackage: op\nname: a.v1\nimages: x\n").problems
    assert (problem.kind, problem.fix, problem.package, problem.entry) == (
        "misspelled-key",
        "write image",
        "op",
        "a.v1",
    )


def test_near_misses_are_misspellings_and_strangers_are_not() -> None:
    assert problems("""
        schema: olm.package
        name: op
        default-channel: stable
        maintainer: me
    """) == ["misspelled-key 3:1 opm does not know the key default-channel"]
    assert problems("""
        schema: olm.channel
        name: stable
        package: op
        entries:
        - {name: a, replace: b, skipsRange: <1.0.0, olm.skipRange: <1.0.0, comment: hi}
    """) == [
        "misspelled-key 5:45 opm does not know the key olm.skipRange",
        "misspelled-key 5:13 opm does not know the key replace",
        "misspelled-key 5:25 opm does not know the key skipsRange",
    ]


def test_a_near_miss_of_a_schema_is_a_misspelling() -> None:
    (problem,) = read("schema: olm.bundel\nname: a\n").problems
    assert (problem.kind, problem.fix) == ("misspelled-key", "write olm.bundle")
    assert read("schema: olm.composite\n").problems == ()


def test_a_missing_schema_is_guessed_from_the_fields() -> None:
    assert [
        read(text).problems[0].fix
        for text in ("entries: []\n", "image: a\n", "defaultChannel: a\n", "a: b\n")
    ] == [
        "add schema: olm.channel",
        "add schema: olm.bundle",
        "add schema: olm.package",
        None,
    ]


def test_a_repeated_key_is_shown_where_the_last_one_stands() -> None:
    text = """
        schema: olm.channel
        name: stable
        package: op
        entries:
        - name: a
          replaces: b
          replaces: c
    """
    assert problems(text) == ["duplicate-key 7:13 replaces is written twice in this mapping"]
    assert read(text).packages[0].channels[0].entries[0].replaces == "c"


def test_a_broken_document_leaves_its_neighbours_readable() -> None:
    text = """
        schema: olm.package
        name: a
        ---
        schema: olm.package
        name: [
        ---
        schema: olm.package
        name: b
    """
    assert problems(text) == [
        "unreadable-document 5:8 the document does not parse: did not find expected node content"
    ]
    assert [package.name for package in read(text).packages] == ["a", "b"]


def test_a_broken_object_leaves_its_neighbours_readable() -> None:
    good = b'{"schema": "olm.package", "name": "%b"}\n'
    text = good % b"a" + b'{"schema": "olm.package",\n "name" "x"}\n' + good % b"b"
    assert problems(text) == ["unreadable-document 3:9 the document does not parse: Expecting ':' delimiter"]
    assert [package.name for package in read(text).packages] == ["a", "b"]


def test_a_bad_separator_still_separates() -> None:
    text = "schema: olm.package\nname: a\n--- b\nschema: olm.package\nname: b\n"
    assert problems(text) == ["bad-separator 3:5 'b' after --- on a line that separates documents"]
    assert [package.name for package in read(text).packages] == ["a", "b"]


def test_text_that_is_dropped_is_pointed_at() -> None:
    (problem,) = problems("schema: a\n...\n\nschema: b\n")
    assert problem.startswith("bad-separator 4:1 opm never reads the following text")


def test_a_property_needs_a_value_in_a_bundle_alone() -> None:
    assert problems("schema: olm.bundle\nname: a\nproperties: [{type: x}, null]\n") == [
        "wrong-type 3:14 the property has no value",
        "wrong-type 3:25 the property has no value",
    ]
    assert problems("schema: olm.package\nname: a\nproperties: [{type: x}]\n") == []


def test_an_object_is_parsed_when_thoroughness_is_asked_for() -> None:
    text = (
        "schema: olm.bundle\nname: a\nproperties: [{type: olm.bundle.object, value: {data: YTogYjogYw==}}]\n"
    )
    assert problems(text) == []
    (problem,) = problems(text, thorough=True)
    assert problem.startswith("wrong-type 3:47 the manifest in an olm.bundle.object does not parse: line 1")


def test_an_object_in_json_is_passed_on_unparsed() -> None:
    text = "schema: olm.bundle\nname: a\nproperties: [{type: olm.bundle.object, value: {data: eyd9}}]\n"
    assert problems(text, thorough=True) == []


def test_a_number_too_large_is_remarked_in_json_too() -> None:
    text = b'{"schema": "x", "a": [1, 9007199254740993]}'
    assert problems(text) == [
        "lossy-number 1:26 opm converts this number to a float64, which cannot represent it"
    ]


def test_a_report_names_only_what_has_a_name() -> None:
    (wrong, unknown) = read("schema: olm.channel\npackage: 1\nname: s\nentrys: []\n").problems
    assert (wrong.kind, wrong.package, unknown.package) == ("misspelled-key", None, None)


def test_a_key_given_twice_in_a_small_catalog_is_seen_in_json_bundles_too() -> None:
    text = b'{"schema": "olm.bundle", "name": "a", "package": "op", "properties": [], "name": "b"}'
    assert problems(text) == ["duplicate-key 1:82 name is written twice in this mapping"]
    assert read_lazily(text).problems == ()


def test_what_becomes_yaml_stays_yaml() -> None:
    text = b'{"schema": "olm.package", "name": "a",}\n{"schema": "olm.package", "name": "b"}\n'
    assert [problem.partition(" ")[0] for problem in problems(text)] == ["bad-separator"]
    assert [package.name for package in read(text).packages] == ["a"]
