"""Documents: what a reader met on its way to the model.

Readers report a Problem where something is not as it should be; its kind is the name of the rule below
that says what follows from it. Each function here answers with that consequence.
"""

from __future__ import annotations

__all__ = ["PROBLEM_KINDS", "unserved_schema"]

import re
from collections.abc import Callable, Iterator
from typing import Final

from everpath.model import Catalog, Other
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import catalog_rule

#: The kinds of Problem that a reader may report.
PROBLEM_KINDS: Final[set[str]] = set()

Consequence = Callable[[], str]

_SYNTAX: Final = (
    "correct the text here: quote what holds ': ' or ' #', indent with spaces, close quotes and brackets"
)
_SCHEMA: Final = (
    "add schema: olm.package, olm.channel or olm.bundle; if it is no part, name it in .indexignore"
)
_MANIFEST: Final = "put the ClusterServiceVersion into it; remove the folder, if it is no bundle"


def _told(
    id: str,  # noqa: A002 - the word users know
    name: str,
    severity: Severity,
    fix: str,
    *,
    unreadable: bool = False,
) -> Callable[[Consequence], Consequence]:
    """A rule that passes on the problems of one kind. `fix` is for those whose reader knows no better.

    Cost: one look at each problem.
    """

    def register(consequence: Consequence) -> Consequence:
        def check(catalog: Catalog) -> Iterator[Flaw]:
            for problem in catalog.problems:
                assert problem.kind in PROBLEM_KINDS, f"no rule is called {problem.kind}: {problem}"
                if problem.kind == name:
                    yield Flaw(
                        problem.place,
                        problem.message,
                        because=(consequence(),),
                        fix=problem.fix or fix,
                        package=problem.package,
                        entry=problem.entry,
                    )

        check.__doc__ = consequence.__doc__
        PROBLEM_KINDS.add(name)
        catalog_rule(id, name, severity, unreadable=unreadable)(check)
        return consequence

    return register


@_told("EP001", "unreadable-document", Severity.ERROR, _SYNTAX, unreadable=True)
def unreadable_document() -> str:
    """Every document can be read: its file opens, is UTF-8 text and parses as YAML or JSON.

    opm refuses a catalog's folder with one document it cannot parse, and does not say in which file it is.
    In a bundle it passes over a file of metadata that it cannot parse, and what stands there is lost.
    What could not be read was not judged, so a report with this finding ends in exit code 3.
    """
    return (
        "nothing in this document was judged; opm refuses a catalog's whole folder for it, and loses what a "
        "bundle's metadata says in it"
    )


@_told("EP002", "duplicate-key", Severity.WARNING, "keep the one that is meant")
def duplicate_key() -> str:
    """No mapping has the same key twice.

    opm and OLM take the last value and say nothing, other readers the first, still others refuse: whoever
    wrote the value that lost believes it is in force. Below the root of a document the same goes for keys
    that differ in case alone; the last in order of bytes counts.
    """
    return "opm and OLM take the last of them without a word; other tools take the first, or refuse"


@_told("EP003", "blank-document", Severity.ERROR, "remove the line with --- that ends it")
def blank_document() -> str:
    """No document of a catalog is empty, or holds comments and white space alone.

    A licence header closed by `---` is such a document. opm refuses the whole folder with the words
    "missing root schema field" and no file name.
    """
    return "opm refuses the whole folder: a document without content has no schema"


@_told("EP004", "missing-schema", Severity.ERROR, _SCHEMA)
def missing_schema() -> str:
    """Every document of a catalog names its schema.

    opm cannot tell what the document is and refuses the whole folder.
    """
    return "opm refuses the whole folder: it cannot tell what the document is"


@_told("EP005", "wrong-type", Severity.ERROR, "write a value of the type that is asked for")
def wrong_type() -> str:
    """Every field holds the type of value it is for: text, a list, a mapping.

    opm refuses the whole folder, or the bundle; no part of the document reaches a user.
    """
    return "opm cannot read the document with this value in it, and refuses it"


@_told("EP006", "non-string-name", Severity.ERROR, "put it in quotes")
def non_string_name() -> str:
    """Schema, package and name are text, also to YAML 1.1.

    `name: 1.0` is a number there, and `name: on`, `y` or `no` are truth values: opm refuses the whole folder.
    """
    return "opm reads YAML 1.1, where this is not text, and refuses the whole folder"


@_told("EP007", "not-a-catalog-file", Severity.ERROR, "name it in .indexignore")
def not_a_catalog_file() -> str:
    """A catalog's folder holds documents of the catalog and nothing else.

    opm parses every file below it, whatever its name: a README, a Dockerfile or a hidden file breaks
    `opm validate`, `opm serve` and the catalog's image.
    """
    return "opm parses every file of the folder, and fails on this one"


@_told("EP008", "lossy-number", Severity.WARNING, "quote it, if it may be text")
def lossy_number() -> str:
    """Every number survives a trip through opm.

    opm passes all numbers through 64-bit floating point: whole numbers beyond 2^53 come out changed.
    """
    return "opm rewrites numbers as 64-bit floating point: users get another number than this"


@_told("EP009", "case-folded-keys", Severity.ERROR, "keep one of them")
def case_folded_keys() -> str:
    """No document has two keys that differ in case alone.

    opm compares keys without regard to case: `name` and `Name` are duplicates, and it refuses the folder.
    """
    return "opm does not distinguish case in keys, finds the same one twice, and refuses the whole folder"


@_told("EP010", "misspelled-key", Severity.WARNING, "write it as the schema has it")
def misspelled_key() -> str:
    """Every key of a document is one its schema knows.

    opm and OLM pass over unknown keys without a word: an edge or a default channel under a misspelled key
    does not exist for them.
    """
    return "opm and OLM pass over it without a word, as if it were not there"


@_told("EP011", "bad-separator", Severity.ERROR, "put --- on a line of its own")
def bad_separator() -> str:
    """A line that begins with `---` holds nothing else, or a comment.

    YAML allows a document to begin on that line; opm's reader refuses the file.
    """
    return "opm splits documents by line, and refuses a separator with something behind it"


@_told("EP013", "unknown-update-mode", Severity.WARNING, "write replaces-mode or semver-mode")
def unknown_update_mode() -> str:
    """`updateGraph` of ci.yaml is replaces-mode, semver-mode or semver-skippatch.

    What becomes of another word depends on the pipeline that builds the catalog: operator-pipelines refuses
    it, and semver-skippatch too; others fall back to a default, and what edges users get depends on which.
    """
    return (
        "operator-pipelines refuses it; another pipeline may fall back to edges that are not the ones meant"
    )


@_told("EP014", "untrimmed-channels", Severity.WARNING, "remove the spaces")
def untrimmed_channels() -> str:
    """The list of channels in annotations.yaml has no spaces around its commas.

    opm does not trim them: `alpha, beta` puts the bundle into a channel called " beta", which no
    Subscription will ever name.
    """
    return "opm does not trim names: the bundle goes into a channel whose name begins or ends with a space"


@_told("EP015", "no-csv", Severity.ERROR, _MANIFEST)
def no_csv() -> str:
    """Every bundle has a ClusterServiceVersion.

    Without one there is no operator to install: opm and OLM refuse the bundle.
    """
    return "opm refuses a bundle without a ClusterServiceVersion"


@_told("EP016", "several-csvs", Severity.WARNING, "keep one of them")
def several_csvs() -> str:
    """A bundle has one ClusterServiceVersion.

    opm takes the first by file name and drops the others; OLM v1 takes the last; validators refuse.
    """
    return "opm takes the first by file name, OLM v1 the last: the two generations install different releases"


@_told("EP017", "no-annotations", Severity.ERROR, "write metadata/annotations.yaml")
def no_annotations() -> str:
    """Every bundle has annotations that name its package and channels.

    opm cannot put a bundle without them into any catalog.
    """
    return "opm cannot tell which package and channels the bundle belongs to, and refuses it"


_SERVED: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")


@catalog_rule("EP012", "unserved-schema", Severity.ERROR)
def unserved_schema(catalog: Catalog) -> Iterator[Flaw]:
    """The schema and package of a custom document are names that opm can serve.

    `opm serve` makes paths of them and takes letters, digits, '.', '_' and '-' only, the first of them a
    letter or digit. `opm validate` does not look: the catalog's image builds, and its pod fails.
    Cost: one look at each custom document.
    """
    for other in catalog.others:
        for key, name in _unserved(other):
            yield Flaw(
                other.place.at(key),
                f"{key} {name!r} of a custom document has a character that opm cannot serve",
                because=(
                    "opm validate accepts the catalog, opm serve fails on it: the catalog's pod never starts",
                ),
                fix="use letters, digits, '.', '_' and '-' only, and begin with a letter or digit",
                package=other.package or None,
            )


def _unserved(other: Other) -> Iterator[tuple[str, str]]:
    for key, name in (("schema", other.schema), ("package", other.package)):
        if name and not _SERVED.fullmatch(name):
            yield key, name
