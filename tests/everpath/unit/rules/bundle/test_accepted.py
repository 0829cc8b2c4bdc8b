"""Valid input that looks like a fault; upstream rejects some of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.everpath.bundle_folders import (
    ANNOTATIONS,
    CRD,
    CSV,
    Files,
    good_bundle,
    lay_out,
    lint_folder,
)


def budget(**spec: object) -> Callable[[Files], None]:
    body = {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}
    return lambda files: files.update({"manifests/budget.yaml": body})


def example_with_an_escape(files: Files) -> None:
    example = '[{"apiVersion": "example.com\\/v1", "kind": "Cache"}]'
    files[CSV]["metadata"]["annotations"]["alm-examples"] = example


def second_version_that_is_not_owned(files: Files) -> None:
    versions = files[CRD]["spec"]["versions"]
    versions.append({**versions[0], "name": "v2", "storage": False})


def constraint_without_cel(files: Files) -> None:
    gvk = {"group": "a.b", "version": "v1", "kind": "C"}
    dependency = {"type": "olm.constraint", "value": {"failureMessage": "needs C", "gvk": gvk}}
    files["metadata/dependencies.yaml"] = {"dependencies": [dependency]}


def keys_in_another_case(files: Files) -> None:
    spec = files[CSV]["spec"]
    spec["MinKubeVersion"] = spec.pop("minKubeVersion")


def no_default_channel(files: Files) -> None:
    del files[ANNOTATIONS]["annotations"]["operators.operatorframework.io.bundle.channel.default.v1"]


def defaults_of_an_old_crd(files: Files) -> None:
    crd = files[CRD]
    crd["apiVersion"] = "apiextensions.k8s.io/v1beta1"
    schema = crd["spec"]["versions"][0]["schema"]
    names = {"plural": "caches", "kind": "Cache"}
    crd["spec"] = {
        "group": "example.com",
        "version": "v1",
        "names": names,
        "validation": schema,
        "preserveUnknownFields": False,
    }


@pytest.mark.parametrize(
    ("edit", "allowed"),
    [
        (budget(maxUnavailable="30%"), set()),
        (budget(maxUnavailable=1), set()),
        (budget(minAvailable="50%"), set()),
        (example_with_an_escape, set()),
        (second_version_that_is_not_owned, {"EP627"}),
        (constraint_without_cel, set()),
        (keys_in_another_case, {"EP432"}),
        (no_default_channel, set()),
        (defaults_of_an_old_crd, {"EP669", "EP686", "EP687"}),
    ],
)
def test_valid_input_is_not_reported(
    edit: Callable[[Files], None], allowed: set[str], tmp_path: Path
) -> None:
    files = good_bundle()
    edit(files)
    assert {finding.rule for finding in lint_folder(lay_out(files, tmp_path))} - allowed == set()


@pytest.mark.parametrize(
    "address",
    [
        "a@b",
        "Team <team@example.com>",
        '"The Team" <a.b+c@d.e>',
        "a@[127.0.0.1]",
        "A B <a@b.c> (us)",
        "é@ü.de",
    ],
)
def test_email_address_can_have_many_forms(address: str, tmp_path: Path) -> None:
    files = good_bundle()
    files[CSV]["spec"]["maintainers"][0]["email"] = address
    assert lint_folder(lay_out(files, tmp_path)) == ()


@pytest.mark.parametrize("address", ["team", "a b@c", "a@b c", "a@b, c@d", "<a@b", "a" * 40_000, '"a' * 5000])
def test_invalid_email_address_is_found_in_linear_time(address: str, tmp_path: Path) -> None:
    files = good_bundle()
    files[CSV]["spec"]["maintainers"][0]["email"] = address
    assert [finding.rule for finding in lint_folder(lay_out(files, tmp_path))] == ["EP662"]


@pytest.mark.parametrize(
    "url", ["https://a.b", "http://a:80/b?c=d#e", "mailto:a@b", "/docs", "https://a/%20"]
)
def test_url_can_have_many_forms(url: str, tmp_path: Path) -> None:
    files = good_bundle()
    files[CSV]["spec"]["links"][0]["url"] = url
    assert lint_folder(lay_out(files, tmp_path)) == ()


@pytest.mark.parametrize(
    "url", ["a.b/c", "https://a b/c", "https://a/%zz", "1:b", "https://a:b", "https://a/\u0001"]
)
def test_invalid_url_is_reported(url: str, tmp_path: Path) -> None:
    files = good_bundle()
    files[CSV]["spec"]["links"][0]["url"] = url
    assert [finding.rule for finding in lint_folder(lay_out(files, tmp_path))] == ["EP663"]


def test_deeply_nested_examples_do_not_crash(tmp_path: Path) -> None:
    files = good_bundle()
    files[CSV]["metadata"]["annotations"]["alm-examples"] = "[" * 100_000
    assert "EP625" in {finding.rule for finding in lint_folder(lay_out(files, tmp_path))}


def test_every_type_is_checked_in_finite_time(tmp_path: Path) -> None:
    """A value of a wrong type is reported everywhere, and no rule fails on it."""
    for path, value in ((("spec",), []), (("spec", "install"), "x"), (("metadata", "annotations"), [1])):
        files = good_bundle()
        place = files[CSV]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        folder = lay_out(files, tmp_path / json.dumps(path).replace("/", ""))
        assert "EP610" in {finding.rule for finding in lint_folder(folder)}
