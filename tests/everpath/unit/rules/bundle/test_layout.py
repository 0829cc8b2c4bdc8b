"""Rules about folders, annotations and dependencies of a bundle."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.model import Place, Property
from everpath.model.bundle_contents import BundleFolder, Contents, Manifest
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects

RULES: dict[str, Rule] = {rule.id: rule for rule in rules_for_subjects({"bundle folder"})}
KEYS = "operators.operatorframework.io.bundle."
GOOD = {
    f"{KEYS}mediatype.v1": "registry+v1",
    f"{KEYS}manifests.v1": "manifests/",
    f"{KEYS}metadata.v1": "metadata/",
    f"{KEYS}package.v1": "acme",
    f"{KEYS}channels.v1": "stable",
}
NOTES = Place("annotations.yaml")
CSV = Manifest(Place("csv.yaml"), {"kind": "ClusterServiceVersion"})
OTHER = Manifest(Place("cm.yaml"), {"kind": "ConfigMap"})


def flaws(
    rule: str,
    annotations: dict[str, Any] | None = None,
    *manifests: Manifest,
    place: Place | None = NOTES,
    dependencies: tuple[Property, ...] = (),
    **fields: Any,
) -> list[Flaw]:
    contents = Contents("f", Place("f"), manifests, annotations, place, dependencies)
    found = list(RULES[rule].check(BundleFolder(contents, **fields)))
    assert all(flaw.fix for flaw in found)
    return found


def pointers(found: list[Flaw]) -> list[tuple[str | int, ...]]:
    return [flaw.place.pointer for flaw in found]


def test_each_rule_belongs_to_a_validator() -> None:
    table = {id_: (r.name, r.severity, r.validators) for id_, r in RULES.items() if "EP601" <= id_ <= "EP606"}
    assert table == {
        "EP601": ("bundle-layout", Severity.ERROR, ("opm",)),
        "EP602": ("stray-file", Severity.ERROR, ("bundle", "opm")),
        "EP603": ("required-annotation", Severity.ERROR, ("opm",)),
        "EP604": ("media-type", Severity.ERROR, ("opm",)),
        "EP605": ("annotation-folders", Severity.WARNING, ()),
        "EP606": ("dependency", Severity.ERROR, ("opm",)),
    }


def test_all_missing_folders_are_in_one_finding() -> None:
    [flaw] = flaws("EP601", missing_folders=("manifests", "metadata"))
    assert flaw.message == "opm rejects the bundle: f has no manifests/ and no metadata/"
    assert (flaw.place, bool(flaw.because)) == (Place("f"), True)
    assert flaw.fix == "move the files of the bundle to manifests/ and metadata/"
    assert flaws("EP601") == []


def test_every_stray_file_is_reported_with_its_kind() -> None:
    found = flaws("EP602", stray_files=("f/manifests/there/", "f/manifests/.hidden"))
    assert [(flaw.place.file, flaw.message) for flaw in found] == [
        ("f/manifests/there", "operator-sdk rejects the bundle: there in manifests/ is a folder"),
        ("f/manifests/.hidden", "operator-sdk rejects the bundle: .hidden in manifests/ is a hidden file"),
    ]
    assert all(flaw.because for flaw in found)


@pytest.mark.parametrize("key", GOOD)
def test_missing_annotation_has_the_usual_value_as_fix(key: str) -> None:
    [flaw] = flaws("EP603", {k: v for k, v in GOOD.items() if k != key})
    usual = GOOD[key] if key.endswith(("mediatype.v1", "manifests.v1", "metadata.v1")) else "…"
    assert (flaw.message, flaw.fix) == (
        f"opm rejects the bundle: the annotation {key} is missing",
        f"add {key}: {usual}",
    )
    assert (flaw.place.file, flaw.place.pointer, bool(flaw.because)) == (
        NOTES.file,
        ("annotations", key),
        True,
    )


def test_all_missing_annotations_of_an_existing_file_are_reported() -> None:
    assert len(flaws("EP603", {})) == 5
    assert flaws("EP603", GOOD) == flaws("EP603", None) == flaws("EP603", {}, place=None) == []


def test_annotation_that_is_not_a_string_is_reported() -> None:
    found = flaws("EP603", {**GOOD, "a": 1, "b": None, "c": True})
    assert pointers(found) == [("annotations", "a"), ("annotations", "c")]
    assert all(flaw.because and flaw.message.endswith("is not a string") for flaw in found)


@pytest.mark.parametrize("key", ["channels.v1", "channel.default.v1"])
@pytest.mark.parametrize("empty", ["", None])
def test_empty_annotation_of_channels_is_reported(key: str, empty: str | None) -> None:
    [flaw] = flaws("EP603", {**GOOD, f"{KEYS}{key}": empty})
    assert flaw.message == f"opm rejects the bundle: the annotation {KEYS}{key} is empty"
    assert (flaw.place.pointer, bool(flaw.because)) == (("annotations", f"{KEYS}{key}"), True)
    assert flaw.fix == (
        "list the channels of the bundle" if key == "channels.v1" else "name a channel, or remove it"
    )


def test_both_empty_annotations_of_channels_are_reported() -> None:
    assert len(flaws("EP603", {**GOOD, f"{KEYS}channels.v1": "", f"{KEYS}channel.default.v1": ""})) == 2


@pytest.mark.parametrize(
    ("stated", "manifest", "actual"),
    [
        ("registry+v1", CSV, None),
        ("plain", OTHER, None),
        ("plain", CSV, "registry+v1"),
        ("registry+v1", OTHER, "plain"),
        (None, CSV, "registry+v1"),
        (1, CSV, None),
    ],
)
def test_media_type_matches_the_manifests(stated: object, manifest: Manifest, actual: str | None) -> None:
    found = flaws("EP604", {f"{KEYS}mediatype.v1": stated}, manifest)
    assert [flaw.fix for flaw in found] == ([f"write {actual}"] if actual else [])
    for flaw in found:
        assert flaw.place.pointer == ("annotations", f"{KEYS}mediatype.v1")
        assert flaw.because == (f"opm reports: Expecting annotation to have value {actual!r}",)


def test_missing_media_type_or_manifests_are_not_reported_by_ep604() -> None:
    assert flaws("EP604", {}, CSV) == flaws("EP604", None, CSV) == []
    assert flaws("EP604", {f"{KEYS}mediatype.v1": "registry+v1"}) == []
    assert flaws("EP604", {f"{KEYS}mediatype.v1": "plain"}, CSV, place=None) == []


def test_annotations_name_the_existing_folders() -> None:
    fine = [{}, GOOD, {f"{KEYS}manifests.v1": "/manifests", f"{KEYS}metadata.v1": ""}]
    assert [flaws("EP605", each) for each in (*fine, None)] == [[]] * 4
    wrong = {f"{KEYS}manifests.v1": "hero/manifests/", f"{KEYS}metadata.v1": "manifests/"}
    found = flaws("EP605", wrong)
    assert [(flaw.place.pointer, flaw.fix) for flaw in found] == [
        (("annotations", f"{KEYS}manifests.v1"), "write manifests/"),
        (("annotations", f"{KEYS}metadata.v1"), "write metadata/"),
    ]
    assert all(flaw.because for flaw in found)
    assert flaws("EP605", wrong, place=None) == []


def depending(kind: str, value: Any) -> list[Flaw]:
    """Return the findings of two equal dependencies."""
    stated = Property(kind, value, Place("dependencies.yaml"))
    found = flaws("EP606", dependencies=(stated, stated))
    assert found[: len(found) // 2] == found[len(found) // 2 :]
    return found[: len(found) // 2]


CEL = {"rule": "true"}


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("olm.gvk", {"group": "a", "version": "v1", "kind": "A"}),
        ("olm.package", {"packageName": "a", "version": ">=1.0.0"}),
        ("olm.label", {"label": "a"}),
        ("olm.constraint", {"cel": CEL}),
        ("olm.constraint", {"cel": CEL, "failureMessage": "m"}),
        *(("olm.constraint", {kind: {"a": 1}}) for kind in ("gvk", "package", "all", "any", "not")),
    ],
)
def test_known_dependency_is_accepted(kind: str, value: Any) -> None:
    assert depending(kind, value) == []


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("olm.crd", {}, [("type",)]),
        ("olm.gvk", None, [("value",)]),
        ("olm.gvk", {}, [("value",)] * 3),
        ("olm.gvk", {"group": 1, "version": True}, [("value", "group"), ("value", "version")]),
        ("olm.package", {}, [("value",)] * 2),
        ("olm.package", {"packageName": "a", "version": "x"}, [("value", "version")]),
        ("olm.package", {"packageName": 1, "version": "x"}, [("value", "packageName")]),
        ("olm.package", {"packageName": "a", "version": 1}, [("value", "version")]),
        ("olm.label", {"label": ""}, [("value",)]),
        ("olm.constraint", {}, [("value",)]),
        ("olm.constraint", {"all": []}, [("value",)]),
        ("olm.constraint", {"failureMessage": 1, "cel": {}}, [("value", "failureMessage")]),
        ("olm.constraint", {"cel": {}}, [("value", "cel")]),
        ("olm.constraint", {"cel": {"rule": ""}}, [("value", "cel")]),
        ("olm.constraint", {"cel": {"rule": 1}}, [("value", "cel")]),
        ("olm.constraint", {"cel": {"rule": "("}}, [("value", "cel", "rule")]),
    ],
)
def test_invalid_dependency_is_reported_with_its_position(
    kind: str, value: Any, expected: list[tuple[str, ...]]
) -> None:
    assert pointers(depending(kind, value)) == expected


def test_missing_fields_and_known_types_are_named() -> None:
    assert [flaw.fix for flaw in depending("olm.gvk", {})] == ["add group", "add version", "add kind"]
    [flaw] = depending("olm.crd", {})
    assert flaw.fix == "write one of olm.constraint, olm.gvk, olm.label and olm.package"


def test_invalid_range_and_cel_rule_have_the_position_of_the_error() -> None:
    [span] = depending("olm.package", {"packageName": "a", "version": ">=v1.0.0"})
    assert span.because[0] == ">=v1.0.0"
    assert "^" in str(span.because[1])
    assert span.fix == "write '>=1.0.0'"
    [other] = depending("olm.package", {"packageName": "a", "version": "x"})
    assert other.fix == "write a range such as '>=1.0.0 <2.0.0'"
    [rule] = depending("olm.constraint", {"cel": {"rule": "("}})
    assert any("^" in str(line) for line in rule.because)
