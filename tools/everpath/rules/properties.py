"""Rules for properties of bundles: what a bundle provides and what it requires."""

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

from everpath.go_types import field, type_mismatches
from everpath.go_types.properties import PROPERTY_TYPES, has_only_strings
from everpath.model import UNREAD, Bundle, Gvk
from everpath.ranges import Range, RangeError
from everpath.resolvers import olm_v0
from everpath.rules.constraints import constraint_problems
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import bundle_rule
from everpath.versions import underline

_FAILS = "in OLM v0, every Subscription of a namespace fails as soon as this bundle is a candidate"


@bundle_rule("EP421", "package-property", Severity.ERROR)
def package_property(bundle: Bundle) -> Iterator[Flaw]:
    """A bundle in a catalog has exactly one olm.package property.

    It contains package and version. opm rejects the catalog otherwise. For bundle folders opm adds it.
    Cost: one pass over the properties.
    """
    stated = list(bundle.properties_of("olm.package"))
    if bundle.csv is None and len(stated) != 1:
        count = f"{len(stated)} olm.package properties" if stated else "no olm.package property"
        yield Flaw(
            stated[1].place if stated else bundle.place.at("properties"),
            f"{bundle.name} has {count}",
            because=("opm rejects the catalog: exactly one is required",),
            fix="keep the right one" if stated else "add one with packageName and version",
        )


@bundle_rule("EP422", "package-property-differs", Severity.ERROR)
def package_property_differs(bundle: Bundle) -> Iterator[Flaw]:
    """The olm.package property of a bundle has the package and the version of the bundle.

    opm rejects a catalog with another package. In a bundle folder, opm prefers the annotation olm.properties
    to annotations.yaml and the CSV, so that catalog and cluster disagree. Cost: one comparison.
    """
    csv = bundle.csv
    actual = (
        {"packageName": bundle.package}
        if csv is None
        else {"packageName": csv.package, "version": csv.version}
    )
    for stated in bundle.properties_of("olm.package"):
        for key, value in actual.items() if isinstance(stated.value, dict) else ():
            found = field(stated.value, key) or ""
            if value is not None and isinstance(found, str) and found != value:
                yield Flaw(
                    stated.place.at("value", key) if csv is None else stated.place,
                    f"olm.package of {bundle.name} has {key} {found!r}, but the bundle has {value!r}",
                    because=(
                        "opm rejects the catalog"
                        if csv is None
                        else "catalog and cluster disagree: opm uses the property, OLM uses the CSV",
                    ),
                    fix=f"write {value} in the property",
                    severity=None if csv is None else Severity.WARNING,
                )


@bundle_rule("EP423", "property-does-not-parse", Severity.ERROR)
def property_does_not_parse(bundle: Bundle) -> Iterator[Flaw]:
    """The value of every property has the Go type of the property's type.

    opm rejects the catalog otherwise. An invalid olm.label.required fails in the resolver of OLM v0 instead.
    Large values that the loader skipped are not checked. Cost: one visit a value.
    """
    for stated in bundle.properties:
        type_ = PROPERTY_TYPES.get(stated.type)
        if type_ is None or stated.value is UNREAD or has_only_strings(stated.value, stated.type):
            continue
        for mismatch in type_mismatches(stated.value, type_):
            other_fix = f"write {mismatch.expected}, or remove the property"
            yield Flaw(
                stated.place.at("value", *mismatch.path),
                f"{stated.type} of {bundle.name} is invalid: {mismatch.message}",
                because=(_FAILS if stated.type == "olm.label.required" else "opm rejects the catalog",),
                fix="quote it" if mismatch.is_unquoted else other_fix,
            )


@bundle_rule("EP424", "requirement-range", Severity.ERROR)
def requirement_range(bundle: Bundle) -> Iterator[Flaw]:
    """The versionRange of every olm.package.required is a valid range.

    opm does not check it. In OLM v0, every Subscription of a namespace fails as soon as the bundle is a
    candidate. Some ranges parse, but crash the resolver. Cost: one parse a property.
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
                "OLM v0 cannot resolve dependencies: "
                f"the range of {package} in {bundle.name} does not parse: {error.reason}",
                because=(*underline(error.text, *error.span, error.reason).splitlines(), _FAILS),
                fix=error.hint or "write a range such as '>=1.0.0 <2.0.0'",
            )
            continue
        if panics:
            message = (
                f"the resolver of OLM v0 crashes: the range of {package} in {bundle.name} has an empty part"
            )
            because = ("there is nothing between two ||, and the resolver dereferences nil",)
            yield Flaw(place, message, because, fix="remove one ||")


@bundle_rule("EP425", "constraint", Severity.ERROR)
def constraint(bundle: Bundle) -> Iterator[Flaw]:
    """Every olm.constraint is valid: known fields, one kind, ranges that parse, CEL rules that compile.

    opm does not check it. In OLM v0, every Subscription of a namespace fails as soon as the bundle is a
    candidate. OLM v1 installs no bundle with a constraint. Types of operands in CEL are not checked.
    Cost: one visit a value.
    """
    for stated in bundle.properties_of("olm.constraint"):
        for problem in constraint_problems(stated.value) if stated.value is not UNREAD else ():
            yield Flaw(
                stated.place.at("value", *problem.path),
                f"OLM v0 cannot resolve dependencies: invalid constraint of {bundle.name}: {problem.message}"
                if problem.is_fatal
                else f"OLM v0 ignores part of a constraint of {bundle.name}: {problem.message}",
                because=(*problem.because, *((_FAILS,) if problem.is_fatal else ())),
                fix=problem.fix or "correct the constraint, or remove it",
                severity=None if problem.is_fatal else Severity.WARNING,
            )


@bundle_rule("EP426", "several-csv-metadata", Severity.ERROR)
def several_csv_metadata(bundle: Bundle) -> Iterator[Flaw]:
    """A bundle has at most one olm.csv.metadata property.

    opm validate accepts the catalog, but opm serve fails, so that the catalog pod never starts. Cost: one
    pass over the properties.
    """
    stated = list(bundle.properties_of("olm.csv.metadata"))
    if len(stated) > 1:
        yield Flaw(
            stated[1].place,
            f"the catalog pod does not start: {bundle.name} has {len(stated)} olm.csv.metadata properties",
            because=("opm validate accepts the catalog, but opm serve fails",),
            fix="keep one of them",
        )


@bundle_rule("EP427", "gvk-twice", Severity.ERROR)
def gvk_twice(bundle: Bundle) -> Iterator[Flaw]:
    """A bundle provides or requires an API once, and does not do both.

    OLM v0 allows one provider of an API, counts a bundle that provides it twice as two providers, and never
    installs it. A bundle that requires its own API is a warning: OLM v1 rejects every bundle with a
    requirement. An API that is required twice is a note. Cost: one look-up a property.
    """
    for api, stated in olm_v0.repeated_apis(bundle):
        yield Flaw(
            stated.place,
            f"OLM v0 never installs {bundle.name}: it provides {api} twice",
            because=(
                "OLM v0 counts it as two providers of the API, and allows one",
                "new installations get an older version or none, without an error message",
            ),
            fix="remove one of the two olm.gvk properties",
        )
    yield from _requirement_flaws(bundle)


def _requirement_flaws(bundle: Bundle) -> Iterator[Flaw]:
    """Yield flaws for APIs that are required twice, or both required and provided."""
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
            message = f"{bundle.name} requires {api} twice"
            yield Flaw(stated.place, message, fix="remove one", severity=Severity.NOTE)
        elif api in provided:
            yield Flaw(
                stated.place,
                f"OLM v1 rejects {bundle.name}: it requires {api}, which it provides itself",
                because=("OLM v0 accepts the bundle as its own provider",),
                fix="remove the olm.gvk.required property",
                severity=Severity.WARNING,
            )
        seen.add(api)
