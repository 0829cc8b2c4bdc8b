"""Rules about CRDs: names, versions, columns, scale."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
OLD, NEW = "apiextensions.k8s.io/v1beta1", "apiextensions.k8s.io/v1"
Way = tuple[str | int, ...]
Fixes = list[tuple[Way, str]]

either_version = pytest.mark.parametrize("api", [OLD, NEW])


def flaws(rule: str, spec: dict[str, Any], api: str = NEW, name: str = "as.b.c") -> list[Flaw]:
    """What a rule says of the second of two CRDs alike; of the first it says the same."""
    body = {
        "apiVersion": api,
        "kind": "CustomResourceDefinition",
        "metadata": {"name": name},
        "spec": spec,
    }
    manifests = tuple(Manifest(Place(file), body) for file in ("0.yaml", "1.yaml"))
    found = list(RULES[rule].check(BundleFolder(Contents("f", Place("f"), manifests))))
    first, second = ([f for f in found if f.place.file == m.place.file] for m in manifests)
    assert [f._replace(place=f.place._replace(file="1.yaml")) for f in first] == second
    assert all(flaw.because and flaw.fix for flaw in found)
    return second


def fixes(rule: str, spec: dict[str, Any], api: str = NEW) -> Fixes:
    """Return the path in spec and the fix of each finding."""
    found = flaws(rule, spec, api)
    assert all(
        flaw.message.startswith("the API server rejects CRD as.b.c: ") and flaw.place.pointer[0] == "spec"
        for flaw in found
    )
    return [(flaw.place.pointer[1:], str(flaw.fix)) for flaw in found]


def test_each_rule_belongs_to_two_validators() -> None:
    named = {*(f"EP64{n}" for n in (1, 2, 3, 4, 5, 7, 8)), "EP652"}
    both = ("crd", "opm")
    assert {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if id_ in named} == {
        "EP641": ("crd-name", Severity.ERROR, both),
        "EP642": ("crd-group", Severity.ERROR, both),
        "EP643": ("crd-names", Severity.ERROR, both),
        "EP644": ("crd-versions", Severity.ERROR, both),
        "EP645": ("crd-scope", Severity.ERROR, both),
        "EP647": ("crd-columns", Severity.ERROR, both),
        "EP648": ("crd-scale", Severity.ERROR, both),
        "EP652": ("crd-stated-twice", Severity.ERROR, both),
    }


@pytest.mark.parametrize("api", ["", "apiextensions.k8s.io/v2", "v1"])
def test_crd_with_an_unknown_api_version_is_not_checked(api: str) -> None:
    assert fixes("EP642", {}, api) == []


@pytest.mark.parametrize(
    ("name", "plural", "fix"),
    [
        ("as.b.c", "as", None),
        ("", "as", None),
        ("bs.b.c", "as", "rename it to as.b.c"),
        ("As.b.c", "As", "write plural and group in lower case"),
        ("as.b.c", "As", "write plural and group in lower case"),
    ],
)
def test_name_of_a_crd_is_plural_and_group(name: str, plural: str, fix: str | None) -> None:
    found = flaws("EP641", {"names": {"plural": plural}, "group": "b.c"}, name=name)
    assert [(f.place.pointer, f.fix) for f in found] == ([(("metadata", "name"), fix)] if fix else [])


@pytest.mark.parametrize(
    ("group", "why"),
    [
        ("b.c", None),
        ("", "is missing"),
        ("example", "has no dot"),
        ("B.c", "lower-case letter"),
        ("B", "lower-case letter"),
    ],
)
def test_group_of_a_crd_is_a_domain(group: str, why: str | None) -> None:
    found = flaws("EP642", {"group": group})
    assert [f.place.pointer for f in found] == ([("spec", "group")] if why else [])
    assert all(
        str(why) in f.message and f.message.startswith("the API server rejects CRD as.b.c: ") for f in found
    )


def missing(*keys: str) -> Fixes:
    return [((key,), f"add names.{key}") for key in keys]


def others(*keys: str) -> Fixes:
    return [((key,), f"choose another {key}") for key in keys]


REMOVABLE = "change or remove it"


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({}, []),
        ({"singular": "a", "listKind": "AList", "shortNames": ["b"], "categories": ["all"]}, []),
        ({"plural": ""}, missing("plural")),
        ({"kind": ""}, missing("singular", "kind", "listKind")),
        ({"kind": "", "singular": "a", "listKind": "AList"}, missing("kind")),
        ({"kind": "A.b"}, others("singular", "kind", "listKind")),
        ({"plural": "As", "singular": "A", "listKind": "A.b"}, others("plural", "singular", "listKind")),
        ({"listKind": "A"}, [(("listKind",), "write listKind: AList")]),
        (
            {"shortNames": ["b c", "d", "E"], "categories": ["All", "1"]},
            [
                (("shortNames", 0), REMOVABLE),
                (("shortNames", 2), REMOVABLE),
                (("categories", 0), REMOVABLE),
                (("categories", 1), REMOVABLE),
            ],
        ),
    ],
)
def test_names_of_a_crd_are_labels_and_some_have_defaults(names: dict[str, Any], expected: Fixes) -> None:
    assert fixes("EP643", {"names": {"plural": "as", "kind": "A"} | names}) == [
        (("names", *way), fix) for way, fix in expected
    ]


def version(name: str = "v1", *, storage: bool = False, **fields: Any) -> dict[str, Any]:
    return {"name": name, "storage": storage, **fields}


STORED = version(storage=True)
NAMED = "write a name such as v1 or v1beta1"
STORE = "set storage: true on one version, false on the others"


@pytest.mark.parametrize(
    ("versions", "expected"),
    [
        ([STORED], []),
        ([version("v2"), STORED], []),
        ([STORED, version("1"), version("")], [(("versions", n, "name"), NAMED) for n in (1, 2)]),
        (
            [version("v3"), version("v2"), version("v2"), STORED, version("v3")],
            [(("versions",), "remove one of them")] * 2,
        ),
    ],
)
def test_names_of_versions_are_unique(versions: list[Any], expected: Fixes) -> None:
    assert fixes("EP644", {"versions": versions}) == expected


def test_duplicate_versions_are_reported_by_name() -> None:
    names = [f"v{n}" for n in (5, 3, 9, 1, 7)]
    found = flaws(
        "EP644", {"versions": [version(name) for name in names * 2] + [version("v0", storage=True)]}
    )
    assert [f.message.split("'")[1] for f in found] == sorted(names)


@either_version
@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ([], "it has no storage version"),
        ([version()], "it has no storage version"),
        ([STORED, version("v2", storage=True)], "it has 2 storage versions"),
    ],
)
def test_exactly_one_version_is_stored(api: str, versions: list[Any], message: str) -> None:
    [flaw] = flaws("EP644", {"versions": versions}, api)
    assert (flaw.place.pointer, flaw.fix) == (("spec", "versions"), STORE)
    assert flaw.message == f"the API server rejects CRD as.b.c: {message}"


def test_v1beta1_can_have_its_version_in_spec() -> None:
    assert fixes("EP644", {"version": "v1"}, OLD) == []
    assert fixes("EP644", {"version": "v1"}) == [(("versions",), STORE)]
    assert fixes("EP644", {"version": "1"}, OLD) == [(("version",), NAMED)]


def test_spec_version_of_v1beta1_is_the_first_version() -> None:
    versions = [version("v2"), STORED]
    assert fixes("EP644", {"version": "v2", "versions": versions}, OLD) == []
    [flaw] = flaws("EP644", {"version": "v1", "versions": versions}, OLD)
    assert (flaw.place.pointer, flaw.fix) == (("spec", "version"), "remove spec.version")
    assert (
        flaw.message == "the API server rejects CRD as.b.c: spec.version is v1, but the first version is v2"
    )
    assert fixes("EP644", {"version": "v1", "versions": versions}) == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, None),
        ({"deprecated": True}, None),
        ({"deprecationWarning": 1}, None),
        ({"deprecationWarning": "old"}, "but is not deprecated"),
        ({"deprecationWarning": "", "deprecated": "true"}, "but is not deprecated"),
        ({"deprecationWarning": "", "deprecated": True}, "1 to 256 bytes"),
        ({"deprecationWarning": "a" * 257, "deprecated": True}, "1 to 256 bytes"),
        ({"deprecationWarning": "é" * 129, "deprecated": True}, "1 to 256 bytes"),
        ({"deprecationWarning": "a" * 256, "deprecated": True}, None),
        ({"deprecationWarning": "a\n", "deprecated": True}, "unprintable"),
        ({"deprecationWarning": "\ud800", "deprecated": True}, "unprintable"),
    ],
)
def test_deprecation_warning_is_short_and_of_a_deprecated_version(
    fields: dict[str, Any], why: str | None
) -> None:
    found = flaws("EP644", {"versions": [STORED, version("v2", **fields), version("v3", **fields)]})
    assert [(f.place.pointer, f.fix) for f in found if str(why) in f.message] == [
        (("spec", "versions", n, "deprecationWarning"), "set deprecated: true, or correct the warning")
        for n in ((1, 2) if why else ())
    ]
    assert len(found) == (2 if why else 0)


@pytest.mark.parametrize(
    ("scope", "api", "message"),
    [
        ("Namespaced", NEW, None),
        ("Cluster", NEW, None),
        ("", OLD, None),
        ("", NEW, "it has no scope"),
        ("Global", NEW, "the scope 'Global' does not exist"),
        ("Global", OLD, "the scope 'Global' does not exist"),
    ],
)
def test_scope_is_namespaced_or_cluster(scope: str, api: str, message: str | None) -> None:
    found = flaws("EP645", {"scope": scope}, api)
    assert [(f.place.pointer, f.message) for f in found] == (
        [(("spec", "scope"), f"the API server rejects CRD as.b.c: {message}")] if message else []
    )


TYPES = ["boolean", "date", "integer", "number", "string"]
FORMATS = ["byte", "date", "date-time", "double", "float", "int32", "int64", "password"]
FIXES = {
    "name": "add a name",
    "type": f"write one of {', '.join(TYPES)}",
    "format": f"write one of {', '.join(FORMATS)}",
    "path": "write a path such as .status.phase",
}


def column(api: str, **fields: str) -> dict[str, str]:
    stated = {"name": "A", "type": "string", "path": ".a"} | fields
    stated["JSONPath" if api == OLD else "jsonPath"] = stated.pop("path")
    return stated


def whole_and_each(api: str, key: str, value: Any) -> tuple[dict[str, Any], list[Way]]:
    """A CRD that states the same for all versions and in the second and third, and where it counts."""
    spec = {key: value, "versions": [{}, {key: value}, {key: value}]}
    whole: list[Way] = [(key,)] if api == OLD else []
    return spec, [*whole, ("versions", 1, key), ("versions", 2, key)]


@either_version
@pytest.mark.parametrize(
    ("wrong", "keys"),
    [
        *(({"type": kind}, []) for kind in TYPES),
        *(({"format": form}, []) for form in ("", *FORMATS)),
        ({"name": ""}, ["name"]),
        ({"type": ""}, ["type"]),
        ({"type": "text"}, ["type"]),
        ({"format": "long"}, ["format"]),
        ({"path": ""}, ["path"]),
        ({"path": "a."}, ["path"]),
        ({"name": "", "type": "", "format": "x", "path": ""}, ["name", "type", "format", "path"]),
    ],
)
def test_printer_column_has_name_type_and_path(api: str, wrong: dict[str, str], keys: list[str]) -> None:
    columns = [column(api), column(api, **wrong), column(api, **wrong)]
    spec, holders = whole_and_each(api, "additionalPrinterColumns", columns)
    path = "JSONPath" if api == OLD else "jsonPath"
    assert fixes("EP647", spec, api) == [
        ((*holder, n, path if key == "path" else key), FIXES[key])
        for holder in holders
        for n in (1, 2)
        for key in keys
    ]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("", "the printer column 'A' has no type"),
        ("x", "the type 'x' of the printer column 'A' does not exist"),
    ],
)
def test_message_for_a_missing_type_differs_from_an_unknown_one(kind: str, message: str) -> None:
    spec = {"versions": [{"additionalPrinterColumns": [column(NEW, type=kind)]}]}
    assert [f.message for f in flaws("EP647", spec)] == [f"the API server rejects CRD as.b.c: {message}"]


PATHS = {
    "specReplicasPath": ".spec.",
    "statusReplicasPath": ".status.",
    "labelSelectorPath": ".spec. or .status.",
}
SCALE = {"specReplicasPath": ".spec.a", "statusReplicasPath": ".status.a"}


@either_version
@pytest.mark.parametrize(
    ("scale", "wrong"),
    [
        (SCALE, []),
        (None, []),
        ("x", []),
        (SCALE | {"labelSelectorPath": ".spec.b"}, []),
        (SCALE | {"labelSelectorPath": ".status.b"}, []),
        (SCALE | {"labelSelectorPath": ".b.spec."}, ["labelSelectorPath"]),
        ({}, ["specReplicasPath", "statusReplicasPath"]),
        (
            {"specReplicasPath": ".status.a", "statusReplicasPath": ".spec.a", "labelSelectorPath": "b"},
            list(PATHS),
        ),
    ],
)
def test_paths_of_scale_are_in_spec_and_status(api: str, scale: Any, wrong: list[str]) -> None:
    spec, holders = whole_and_each(api, "subresources", {"scale": scale})
    assert fixes("EP648", spec, api) == [
        ((*holder, "scale", key), f"write a path that starts with {PATHS[key]}")
        for holder in holders
        for key in wrong
    ]


def test_message_for_a_missing_path_differs_from_a_wrong_one() -> None:
    scale = {"specReplicasPath": "x", "statusReplicasPath": ""}
    assert [f.message for f in flaws("EP648", {"versions": [{"subresources": {"scale": scale}}]})] == [
        "the API server rejects CRD as.b.c: specReplicasPath of the scale subresource is 'x'",
        "the API server rejects CRD as.b.c: the scale subresource has no statusReplicasPath",
    ]


@pytest.mark.parametrize(
    ("whole", "each"),
    [
        ("validation", "schema"),
        ("subresources", "subresources"),
        ("additionalPrinterColumns", "additionalPrinterColumns"),
    ],
)
def test_v1beta1_has_a_field_in_spec_or_in_versions(whole: str, each: str) -> None:
    one, other = {"a": 1}, {"a": 2}

    def stating(for_all: Any, *for_each: Any) -> dict[str, Any]:
        return {whole: for_all, "versions": [{each: value} for value in for_each]}

    both, same = ((whole,), "keep one of the two"), (("versions",), f"move it to spec.{whole}")
    for spec, expected in (
        (stating(one, None, None), []),
        (stating(None, one, other), []),
        (stating(None, one, None), []),
        (stating(None, None, None), []),
        (stating(None), []),
        (stating(one, None, other), [both]),
        (stating(one, one, other), [both]),
        (stating(None, one, one), [same]),
        (stating(None, one), [same]),
        (stating(one, one, one), [both, same]),
    ):
        assert fixes("EP652", spec, OLD) == expected
        assert fixes("EP652", spec, NEW) == []
