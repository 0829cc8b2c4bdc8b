"""Properties: what a bundle states about itself, and what it asks of others."""

from __future__ import annotations

__all__ = [
    "constraint",
    "gvk_twice",
    "package_property",
    "package_property_differs",
    "property_does_not_parse",
    "requirement_range",
    "several_csv_metadata",
]

from collections.abc import Iterator

from everpath.go_types import TypeMismatch, field, type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES, has_only_strings
from everpath.model import UNREAD, Bundle, Gvk
from everpath.ranges import Range, RangeError
from everpath.resolvers import olm_v0
from everpath.rules.constraints import constraint_problems
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_rule
from everpath.versions import underline

_FAILS = "OLM v0 fails every Subscription of the namespace as soon as this bundle is a candidate"


@bundle_rule("EP421", "package-property", Severity.ERROR)
def package_property(bundle: Bundle) -> Iterator[Flaw]:
    """A bundle in a catalog has exactly one olm.package property.

    It says which package and version the bundle is; opm refuses the catalog otherwise. For a bundle's own
    folder opm makes it. Cost: one pass over the properties.
    """
    stated = list(bundle.properties_of("olm.package"))
    if bundle.csv is None and len(stated) != 1:
        count = f"{len(stated)} olm.package properties, not one" if stated else "no olm.package property"
        yield Flaw(
            stated[1].place if stated else bundle.place.at("properties"),
            f"{bundle.name} has {count}",
            because=("opm refuses the catalog",),
            fix="keep the right one" if stated else "add one with packageName and version",
        )


@bundle_rule("EP422", "package-property-differs", Severity.ERROR)
def package_property_differs(bundle: Bundle) -> Iterator[Flaw]:
    """The olm.package property of a bundle names the package, and the version, that the bundle has.

    opm refuses a catalog where the package differs. In a bundle's own folder the annotation olm.properties
    wins over annotations.yaml and the CSV: the catalog says one thing and the cluster another.
    Cost: one comparison.
    """
    csv = bundle.csv
    actual = (
        {"packageName": bundle.package}
        if csv is None
        else {"packageName": csv.package, "version": csv.version}
    )
    for stated in bundle.properties_of("olm.package"):
        for key, value in actual.items() if isinstance(stated.value, dict) else ():
            said = field(stated.value, key) or ""
            if value is not None and isinstance(said, str) and said != value:
                yield Flaw(
                    stated.place.at("value", key) if csv is None else stated.place,
                    f"olm.package of {bundle.name} says {key} {said!r}, the bundle itself {value!r}",
                    because=(
                        "opm refuses the catalog"
                        if csv is None
                        else "opm believes the property, OLM the CSV",
                    ),
                    fix=f"write {value} in the property",
                    severity=None if csv is None else Severity.WARNING,
                )


@bundle_rule("EP423", "property-does-not-parse", Severity.ERROR)
def property_does_not_parse(bundle: Bundle) -> Iterator[Flaw]:
    """The value of every property has the shape its type asks for.

    opm refuses the catalog; a label that is required but misshapen fails in OLM v0's resolver instead.
    Values that are too large to read for the graph's sake are not judged. Cost: one visit a value.
    """
    for stated in bundle.properties:
        type_ = PROPERTY_TYPES.get(stated.type)
        if type_ is None or stated.value is UNREAD or has_only_strings(stated.value, stated.type):
            continue
        for mismatch in type_mismatches(stated.value, type_):
            yield Flaw(
                stated.place.at("value", *mismatch.path),
                f"the {stated.type} property of {bundle.name} does not parse: {mismatch.message}",
                because=("opm refuses the catalog" if stated.type != "olm.label.required" else _FAILS,),
                fix=_type_fix(mismatch),
            )


def _type_fix(mismatch: TypeMismatch) -> str:
    is_unquoted = mismatch.expected == "a string" and isinstance(mismatch.value, bool | int | float)
    return "quote it" if is_unquoted else f"write {mismatch.expected}, or remove the property"


@bundle_rule("EP424", "requirement-range", Severity.ERROR)
def requirement_range(bundle: Bundle) -> Iterator[Flaw]:
    """The versionRange of every olm.package.required is a range OLM can read.

    opm does not look at it. OLM v0 fails every Subscription of the namespace as soon as the bundle is a
    candidate, and so it does for a range that crashes its parser's answer. Cost: one parse a property.
    """
    for stated in bundle.properties_of("olm.package.required"):
        text, package = field(stated.value, "versionRange") or "", field(stated.value, "packageName")
        if not isinstance(text, str) or not isinstance(stated.value, dict):
            continue
        place = stated.place.at("value", "versionRange")
        try:
            panics = Range.parse(text).can_panic
        except RangeError as error:
            yield Flaw(
                place,
                f"the range of {package} that {bundle.name} requires does not parse: {error.reason}",
                because=(*underline(error.text, *error.span, error.reason).splitlines(), _FAILS),
                fix=error.hint or "write a range such as '>=1.0.0 <2.0.0'",
            )
            continue
        if panics:
            message = f"the range of {package} that {bundle.name} requires crashes OLM"
            because = ("nothing stands between two ||: the resolver dereferences nil",)
            yield Flaw(place, message, because, fix="remove one of the ||")


@bundle_rule("EP425", "constraint", Severity.ERROR)
def constraint(bundle: Bundle) -> Iterator[Flaw]:
    """Every olm.constraint is one that OLM can parse: known fields, one kind, ranges and CEL that compile.

    opm does not look at it. OLM v0 fails every Subscription of the namespace as soon as the bundle is a
    candidate; v1 installs no bundle that has one. Of CEL, operand types are not checked. Cost: one visit a
    value.
    """
    for stated in bundle.properties_of("olm.constraint"):
        for problem in constraint_problems(stated.value) if stated.value is not UNREAD else ():
            yield Flaw(
                stated.place.at("value", *problem.path),
                f"a constraint of {bundle.name}: {problem.message}",
                because=(*problem.because, *((_FAILS,) if problem.is_fatal else ())),
                fix=problem.fix or "correct it there, or remove the constraint",
                severity=None if problem.is_fatal else Severity.WARNING,
            )


@bundle_rule("EP426", "several-csv-metadata", Severity.ERROR)
def several_csv_metadata(bundle: Bundle) -> Iterator[Flaw]:
    """A bundle has at most one olm.csv.metadata property.

    opm validates the catalog and cannot serve it: its pod never starts. Cost: one pass over the properties.
    """
    stated = list(bundle.properties_of("olm.csv.metadata"))
    if len(stated) > 1:
        yield Flaw(
            stated[1].place,
            f"{bundle.name} has {len(stated)} olm.csv.metadata properties",
            because=(
                "opm validate accepts the catalog, opm serve fails on it: the catalog's pod never starts",
            ),
            fix="keep one of them",
        )


@bundle_rule("EP427", "gvk-twice", Severity.ERROR)
def gvk_twice(bundle: Bundle) -> Iterator[Flaw]:
    """An API is provided or required by a bundle once, and not both.

    OLM v0 allows one provider of an API, counts a bundle that provides it twice as two, and never installs
    it. A bundle that requires what it provides is its own provider there, and a warning: OLM v1 refuses any
    bundle with a requirement. To require the same twice is only noted. Cost: one look-up a property.
    """
    for api, stated in olm_v0.repeated_apis(bundle):
        yield Flaw(
            stated.place,
            f"{bundle.name} provides {_spelled(api)} twice",
            because=(
                "OLM v0 counts it as two providers of the API, and never installs it",
                "new users get an older version, or none, and nobody is told why",
            ),
            fix="remove one of the two olm.gvk properties",
        )
    yield from _requirements(bundle)


def _requirements(bundle: Bundle) -> Iterator[Flaw]:
    """APIs that are required twice, or provided as well."""
    required = list(bundle.properties_of("olm.gvk.required"))
    if not required:
        return
    provided = {olm_v0.parse_gvk(stated.value) for stated in bundle.properties_of("olm.gvk")}
    seen: set[Gvk] = set()
    for stated in required:
        api = olm_v0.parse_gvk(stated.value)
        if api is None:
            continue
        if api in seen:
            message = f"{bundle.name} requires {_spelled(api)} twice"
            yield Flaw(stated.place, message, fix="remove one", severity=Severity.NOTE)
        elif api in provided:
            yield Flaw(
                stated.place,
                f"{bundle.name} requires {_spelled(api)}, which it provides itself",
                because=("OLM v0 takes it for its own provider; v1 refuses a bundle with a requirement",),
                fix="remove the olm.gvk.required property",
                severity=Severity.WARNING,
            )
        seen.add(api)


def _spelled(api: Gvk) -> str:
    return "{}/{} {}".format(*api)
