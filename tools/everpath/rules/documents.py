"""Rules for problems that loaders found in documents.

Each function below returns the consequence of one kind of problem.
"""

from __future__ import annotations

__all__ = ["unserved_schema"]

import re
from collections.abc import Callable, Iterator
from typing import Final

from everpath.model import Catalog, ProblemKind
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import catalog_rule

Consequence = Callable[[], str]

_SYNTAX: Final = (
    "correct the syntax: quote values with ': ' or ' #', indent with spaces, close quotes and brackets"
)
_SCHEMA: Final = "add schema: olm.package, olm.channel or olm.bundle, or list the file in .indexignore"
_MANIFEST: Final = "add the ClusterServiceVersion; if the folder is not a bundle, remove it"


def _problem_rule(
    id: str,  # noqa: A002 - the word users know
    kind: ProblemKind,
    severity: Severity,
    fix: str,
    *,
    unreadable: bool = False,
) -> Callable[[Consequence], Consequence]:
    """Register a rule that reports the problems of one kind, with `fix` for those without their own.

    Cost: one test a problem.
    """

    def register(consequence: Consequence) -> Consequence:
        def check(catalog: Catalog) -> Iterator[Flaw]:
            for problem in catalog.problems:
                if problem.kind is kind:
                    yield Flaw(
                        problem.place,
                        problem.message,
                        because=(consequence(),),
                        fix=problem.fix or fix,
                        package=problem.package,
                        entry=problem.entry,
                    )

        check.__doc__ = consequence.__doc__
        catalog_rule(id, kind.value, severity, unreadable=unreadable)(check)
        return consequence

    return register


@_problem_rule("EP001", ProblemKind.UNREADABLE_DOCUMENT, Severity.ERROR, _SYNTAX, unreadable=True)
def unreadable_document() -> str:
    """Every document can be read: its file opens, is UTF-8 text and parses as YAML or JSON.

    opm rejects a catalog with one document that it cannot parse, and does not name the file. It ignores a
    metadata file of a bundle that it cannot parse. The document is not checked, so that the exit code is 3.
    """
    return (
        "the document is not checked; opm rejects a catalog with it, and ignores it in metadata of a bundle"
    )


@_problem_rule("EP002", ProblemKind.DUPLICATE_KEY, Severity.WARNING, "keep one of them")
def duplicate_key() -> str:
    """No mapping has the same key twice.

    opm and OLM use the last value, without a message. Other tools use the first one, or reject the file. The
    same holds for keys below the root of a document that differ only in case: the last in byte order is used.
    """
    return "opm and OLM use the last value without a message; other tools use the first or reject the file"


@_problem_rule("EP003", ProblemKind.BLANK_DOCUMENT, Severity.ERROR, "remove the --- after it")
def blank_document() -> str:
    """No document of a catalog is empty or consists only of comments and white space.

    A licence header that ends with `---` is such a document. opm rejects the catalog with "missing root
    schema field", and does not name the file.
    """
    return "opm rejects the catalog: an empty document has no schema"


@_problem_rule("EP004", ProblemKind.MISSING_SCHEMA, Severity.ERROR, _SCHEMA)
def missing_schema() -> str:
    """Every document of a catalog has a schema.

    opm rejects the catalog otherwise, because it does not know how to decode the document.
    """
    return "opm rejects the catalog: it does not know how to decode the document"


@_problem_rule("EP005", ProblemKind.WRONG_TYPE, Severity.ERROR, "write a value of the right type")
def wrong_type() -> str:
    """Every field has a value of the right type.

    opm rejects the catalog or the bundle otherwise.
    """
    return "opm cannot decode the document, and rejects the catalog or the bundle"


@_problem_rule("EP006", ProblemKind.NON_STRING_NAME, Severity.ERROR, "quote it")
def non_string_name() -> str:
    """Schema, package and name are strings in YAML 1.1.

    `name: 1.0` is a number there, and `on`, `y` and `no` are booleans. opm rejects the catalog.
    """
    return "opm rejects the catalog: it parses YAML 1.1, in which this is not a string"


@_problem_rule("EP007", ProblemKind.NOT_A_CATALOG_FILE, Severity.ERROR, "list it in .indexignore")
def not_a_catalog_file() -> str:
    """A catalog folder contains only documents of the catalog.

    opm parses every file in it. A README, a Dockerfile or a hidden file breaks `opm validate`, `opm serve`
    and the catalog image.
    """
    return "opm parses every file of the folder, and fails on this one"


@_problem_rule("EP008", ProblemKind.LOSSY_NUMBER, Severity.WARNING, "quote it if it can be a string")
def lossy_number() -> str:
    """opm does not change any number.

    opm converts numbers to 64-bit floating point, which changes integers above 2^53.
    """
    return "opm converts numbers to 64-bit floating point: users get another number"


@_problem_rule("EP009", ProblemKind.CASE_FOLDED_KEYS, Severity.ERROR, "keep one of them")
def case_folded_keys() -> str:
    """No document has two keys that differ only in case.

    opm ignores the case of keys: `name` and `Name` are duplicates, and it rejects the catalog.
    """
    return "opm rejects the catalog: it ignores the case of keys, so that these are duplicates"


@_problem_rule("EP010", ProblemKind.MISSPELLED_KEY, Severity.WARNING, "use the spelling of the schema")
def misspelled_key() -> str:
    """Every key of a document is known to its schema.

    opm and OLM ignore unknown keys without a message, for example a misspelled edge or default channel.
    """
    return "opm and OLM ignore unknown keys without a message"


@_problem_rule("EP011", ProblemKind.BAD_SEPARATOR, Severity.ERROR, "write --- on its own line")
def bad_separator() -> str:
    """A line that starts with `---` contains nothing else, except a comment.

    YAML allows a document to start on this line, but opm rejects the file.
    """
    return "opm splits documents at lines, and rejects a separator that is followed by content"


@_problem_rule(
    "EP013", ProblemKind.UNKNOWN_UPDATE_MODE, Severity.WARNING, "write replaces-mode or semver-mode"
)
def unknown_update_mode() -> str:
    """`updateGraph` in ci.yaml is replaces-mode, semver-mode or semver-skippatch.

    The effect of another value depends on the pipeline that builds the catalog. operator-pipelines rejects
    it, and rejects semver-skippatch, too. Other pipelines use a default, and generate other edges than
    intended.
    """
    return "operator-pipelines rejects it; other pipelines may generate other edges than intended"


@_problem_rule("EP014", ProblemKind.UNTRIMMED_CHANNELS, Severity.WARNING, "remove the spaces")
def untrimmed_channels() -> str:
    """The list of channels in annotations.yaml has no spaces around its commas.

    opm does not trim names: `alpha, beta` adds the bundle to a channel " beta", which no Subscription uses.
    """
    return "opm does not trim names: it adds the bundle to a channel whose name starts or ends with a space"


@_problem_rule("EP015", ProblemKind.NO_CSV, Severity.ERROR, _MANIFEST)
def no_csv() -> str:
    """Every bundle has a ClusterServiceVersion.

    opm and OLM reject a bundle without one.
    """
    return "opm and OLM reject a bundle without a ClusterServiceVersion"


@_problem_rule("EP016", ProblemKind.SEVERAL_CSVS, Severity.WARNING, "keep one of them")
def several_csvs() -> str:
    """A bundle has one ClusterServiceVersion.

    opm uses the first by file name, OLM v1 the last. Validators reject the bundle.
    """
    return "OLM v0 and v1 install different CSVs: opm uses the first by file name, OLM v1 the last"


@_problem_rule("EP017", ProblemKind.NO_ANNOTATIONS, Severity.ERROR, "add metadata/annotations.yaml")
def no_annotations() -> str:
    """Every bundle has annotations with its package and channels.

    opm cannot add it to a catalog otherwise.
    """
    return "opm rejects the bundle: its package and channels are unknown"


_SERVED: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")


@catalog_rule("EP012", "unserved-schema", Severity.ERROR)
def unserved_schema(catalog: Catalog) -> Iterator[Flaw]:
    """The schema and package of a custom document consist of characters that opm can serve.

    `opm serve` uses them in paths, and allows letters, digits, '.', '_' and '-', with a letter or digit
    first. `opm validate` does not check them: the catalog image is built, but its pod fails. Cost: one test a
    custom document.
    """
    for other in catalog.others:
        for key, name in (("schema", other.schema), ("package", other.package)):
            if not name or _SERVED.fullmatch(name):
                continue
            yield Flaw(
                other.place.at(key),
                f"the catalog pod does not start: {key} {name!r} has a character that opm cannot serve",
                because=("opm validate accepts the catalog, but opm serve fails",),
                fix="use only letters, digits, '.', '_' and '-', with a letter or digit first",
                package=other.package or None,
            )
