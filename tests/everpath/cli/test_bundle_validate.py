"""`everpath bundle validate` on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everpath.app import worker_processes
from everpath.reporters import FORMATS
from tests.support.commandline import Everpath
from tests.support.everpath.bundle_folders import ANNOTATIONS, CSV, good_bundle, lay_out
from tests.support.everpath.projects import write_operator, write_releases
from tests.support.schemas import conforms

PACKAGE = "operators.operatorframework.io.bundle.package.v1"


@pytest.fixture
def repository(here: Path) -> Path:
    """Two packages of three releases; acme.v1.0.0 of both lacks a display name."""
    for package in ("acme", "other"):
        for release in ("1.0.0", "1.1.0", "1.2.0"):
            files = good_bundle()
            files[CSV]["metadata"]["name"] = f"{package}.v{release}"
            files[CSV]["spec"]["version"] = release
            files[ANNOTATIONS]["annotations"][PACKAGE] = package
            if release == "1.0.0":
                files[CSV]["spec"]["displayName"] = ""
            lay_out(files, here / "operators" / package / release)
    return here


def test_a_good_bundle_is_clean(everpath: Everpath, here: Path) -> None:
    lay_out(good_bundle(), here)
    answer = everpath("bundle", "validate")
    assert (answer.code, answer.out) == (0, "Nothing wrong in 1 package and 1 bundle.\n")


def test_every_bundle_of_a_repository_is_linted(everpath: Everpath, repository: Path) -> None:
    answer = everpath("bundle", "validate", str(repository), "-o", "concise")
    assert answer.code == 1
    assert answer.out.splitlines()[-1] == "2 errors in 2 packages and 6 bundles."
    assert "1.0.0/manifests/acme.clusterserviceversion.yaml:13:18: EP634 error" in answer.out


def test_the_default_path_is_the_folder_bundles(everpath: Everpath, here: Path) -> None:
    lay_out(good_bundle(), here / "bundles" / "acme" / "1.0.0")
    assert everpath("bundle", "validate").out == "Nothing wrong in 1 package and 1 bundle.\n"


def test_one_package_of_several(everpath: Everpath, repository: Path) -> None:
    answer = everpath("bundle", "validate", str(repository), "-p", "other")
    assert "1 error in 1 package and 3 bundles." in answer.out
    wrong = everpath("bundle", "validate", str(repository), "-p", "othre")
    assert (wrong.code, wrong.err) == (
        2,
        "error: there is no package 'othre'\nhint: did you mean 'other'?\n",
    )


@pytest.mark.parametrize(
    "path", ["operators", "operators/acme", "operators/acme/1.0.0", "operators/acme/1.0.0/"]
)
def test_a_package_has_the_same_name_for_every_path(everpath: Everpath, repository: Path, path: str) -> None:
    assert repository.is_dir()
    answer = everpath("bundle", "validate", path, "-p", "acme", "-o", "concise")
    assert answer.code == 1
    assert answer.out.startswith(
        "operators/acme/1.0.0/manifests/acme.clusterserviceversion.yaml:13:18: EP634"
    )


@pytest.mark.parametrize("output", FORMATS)
def test_every_output_format_has_the_finding(everpath: Everpath, repository: Path, output: str) -> None:
    answer = everpath("bundle", "validate", str(repository / "operators" / "acme"), "-o", output)
    assert answer.code == 1
    assert "EP634" in answer.out
    assert "validate-graph" not in answer.out


def test_json_conforms_to_its_schema(everpath: Everpath, repository: Path) -> None:
    document = json.loads(everpath("bundle", "validate", str(repository), "-o", "json").out)
    conforms("bundle-validate", document)
    assert document["summary"]["bundles"] == 6


def test_several_processes_report_the_same_findings(everpath: Everpath, repository: Path) -> None:
    alone = everpath("bundle", "validate", str(repository), "-o", "json", "-j", "1")
    assert everpath("bundle", "validate", str(repository), "-o", "json", "-j", "3") == alone


def test_the_share_of_a_failed_process_is_linted_in_the_parent(
    everpath: Everpath, repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = everpath("bundle", "validate", str(repository), "-o", "json", "-j", "1")
    monkeypatch.setattr(
        worker_processes, "run_in_processes", lambda work, count: [work(0), *[None] * (count - 1)]
    )
    assert everpath("bundle", "validate", str(repository), "-o", "json", "-j", "2") == alone


def test_a_waiver_for_a_bundle_is_applied(everpath: Everpath, repository: Path) -> None:
    waiver = {"rule": "required-field", "package": "acme", "entry": "acme.v1.0.0", "reason": "never shown"}
    (repository / "everpath.yaml").write_text(json.dumps({"waivers": [waiver]}))
    answer = everpath("bundle", "validate", "operators")
    assert "1 error in 2 packages and 6 bundles; and 1 waived." in answer.out


def test_a_waiver_for_the_other_command_is_not_unused_here(everpath: Everpath, here: Path) -> None:
    lay_out(good_bundle(), here / "bundles" / "acme" / "1.0.0")
    waivers = [{"rule": "fork", "reason": "x"}, {"rule": "csv-name", "reason": "x"}]
    (here / "everpath.yaml").write_text(json.dumps({"waivers": waivers}))
    answer = everpath("bundle", "validate", "-o", "concise")
    assert [line.split(" the waiver ")[1] for line in answer.out.splitlines() if "EP901" in line] == [
        "of EP621 matches no finding"
    ]


def test_optional_validators_are_selected_by_name(everpath: Everpath, here: Path) -> None:
    files = good_bundle()
    del files[CSV]["spec"]["icon"]
    lay_out(files, here)
    assert everpath("bundle", "validate", ".").out.startswith("Nothing wrong")
    for words in ("operatorhub/v2", "name=operatorhub", "all", "suite=operatorframework"):
        assert "EP665" in everpath("bundle", "validate", ".", "--select-optional", words).out
    assert "EP665" in everpath("bundle", "validate", ".", "--select", "no-icon").out
    assert everpath("bundle", "validate", ".", "--select-optional", "good-practices").code == 0


def test_the_configuration_may_name_validators_and_the_kubernetes_version(
    everpath: Everpath, here: Path
) -> None:
    files = good_bundle()
    files[CSV]["spec"]["minKubeVersion"] = "1.20.0"
    budget = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}}
    files["manifests/budget.yaml"] = budget
    lay_out(files, here)
    config = {"select-optional": ["alpha-deprecated-apis"], "kube-version": "1.29.0"}
    (here / "everpath.yaml").write_text(json.dumps(config))
    assert "error[EP669" in everpath("bundle", "validate", ".").out
    assert "warning[EP669" in everpath("bundle", "validate", ".", "--kube-version", "1.24").out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select-optional", "operatorhub/v3"], "unknown validator 'operatorhub/v3'"),
        (["--select-optional", "name=multiarch"], "everpath does not run the validator multiarch"),
        (["--kube-version", "new"], "--kube-version 'new' is not a version"),
        (["--select", "EP2"], "--select EP2: this command runs none of these rules"),
    ],
)
def test_a_wrong_option_is_an_error(
    everpath: Everpath, repository: Path, arguments: list[str], message: str
) -> None:
    answer = everpath("bundle", "validate", str(repository), *arguments)
    assert answer.code == 2
    assert message in answer.err
    assert "hint: " in answer.err


def test_a_misspelt_validator_in_the_configuration_is_an_error_with_its_line(
    everpath: Everpath, here: Path
) -> None:
    lay_out(good_bundle(), here)
    (here / "everpath.yaml").write_text("select-optional: [operatorhub/v3]\n")
    answer = everpath("bundle", "validate", ".")
    assert answer.code == 2
    assert "everpath.yaml:1" in answer.err


def test_graph_rules_in_the_configuration_do_not_deselect_bundle_rules(
    everpath: Everpath, repository: Path
) -> None:
    (repository / "everpath.yaml").write_text("select: [fork]\n")
    assert "EP634" in everpath("bundle", "validate", "operators").out


def test_validate_graph_rejects_rules_about_bundles(everpath: Everpath, repository: Path) -> None:
    answer = everpath("validate-graph", str(repository), "--select", "EP6")
    assert (answer.code, answer.out) == (2, "")


def test_categories_come_from_a_file(everpath: Everpath, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(good_bundle(), here / "bundle")
    asked = ("bundle", "validate", "bundle", "--select", "category")
    (here / "mine.json").write_text('{"categories": ["Database"]}')
    assert (
        "users do not find the operator by category: 'Storage' does not exist"
        in everpath(*asked, "--categories", "mine.json").out
    )
    monkeypatch.setenv("OPERATOR_BUNDLE_CATEGORIES", "mine.json")
    assert everpath(*asked).code == 1
    (here / "mine.json").write_text("[]")
    assert everpath(*asked).code == 3
    assert everpath(*asked, "--categories", "nowhere.json").code == 3


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_labels_come_from_a_dockerfile(everpath: Everpath, here: Path, end: bytes) -> None:
    files = good_bundle()
    crd = files["manifests/caches.example.com.yaml"]
    crd["apiVersion"] = "apiextensions.k8s.io/v1beta1"
    lay_out(files, here / "bundle")
    lines = (b"FROM scratch", b"# \xff", b"LABEL com.redhat.openshift.versions=v4.6", b"")
    (here / "Dockerfile").write_bytes(end.join(lines))
    answer = everpath(
        "bundle", "validate", "bundle", "--select", "EP687", "--labels", "Dockerfile", "-o", "concise"
    )
    assert "Dockerfile:3:1: EP687 error openshift-label" in answer.out


@pytest.mark.parametrize("path", ["nowhere", "empty"])
def test_a_path_without_bundles_is_an_error(everpath: Everpath, here: Path, path: str) -> None:
    (here / "empty").mkdir()
    answer = everpath("bundle", "validate", path)
    assert answer.code == 3
    assert "hint: " in answer.err


def test_an_unparsable_manifest_is_reported_and_the_rest_is_linted(
    everpath: Everpath, repository: Path
) -> None:
    (repository / "operators" / "acme" / "1.1.0" / "manifests" / "broken.yaml").write_text("a: [")
    answer = everpath("bundle", "validate", str(repository), "-o", "concise")
    assert answer.code == 3
    assert "EP001" in answer.out
    assert "EP634" in answer.out


@pytest.mark.parametrize("text", ["", "null", "[]", "- a", "1", "\x00", "kind: []", "{}", "a: &a [*a]"])
def test_arbitrary_text_in_a_manifest_does_not_end_the_run(everpath: Everpath, here: Path, text: str) -> None:
    for name in (CSV, "manifests/other.yaml", ANNOTATIONS):
        folder = here / name.replace("/", "-")
        lay_out(good_bundle() | {name: text}, folder)
        assert everpath("bundle", "validate", str(folder), "--select-optional", "all").code in (0, 1, 3)


def test_a_package_file_is_linted_if_selected(everpath: Everpath, repository: Path) -> None:
    (repository / "operators" / "acme" / "acme.package.yaml").write_text("packageName: acme\n")
    assert "EP692" not in everpath("bundle", "validate", "operators").out
    assert "EP692" in everpath("bundle", "validate", "operators", "--select-optional", "packagemanifest").out


@pytest.mark.parametrize("path", ["bundles", "bundles/acme/0.1.0", "."])
def test_the_fix_of_a_released_bundle_is_for_the_next_release(
    everpath: Everpath, here: Path, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_operator(here)
    write_releases(here, "- {version: 0.1.0, channels: [stable]}")
    assert everpath("generate").code == everpath("release", "0.2.0", "-q").code == 0
    if path == ".":
        monkeypatch.chdir(here / "bundles/acme")
    findings = json.loads(everpath("bundle", "validate", path, "-o", "json").out)["findings"]
    advice = {finding["entry"]: finding["fix"] for finding in findings if finding["rule"] == "EP632"}
    assert advice["acme.v0.1.0"].startswith("for the next release: add spec.minKubeVersion")
    assert advice.get("acme.v0.2.0", "add").startswith("add")
    because = next(finding["because"] for finding in findings if finding["entry"] == "acme.v0.1.0")
    assert because[-1].endswith("catalog/releases.yaml:7 has its digest")


def test_an_unreadable_releases_file_freezes_nothing(everpath: Everpath, here: Path) -> None:
    files = good_bundle()
    files[CSV]["spec"]["displayName"] = ""
    lay_out(files, here / "bundles/acme/1.0.0")
    (here / "releases.yaml").write_text("package: [")
    answer = everpath("bundle", "validate", "-o", "concise")
    assert (answer.code, answer.err) == (1, "")


def test_bundles_given_one_by_one_are_one_package(everpath: Everpath, repository: Path) -> None:
    paths = [str(repository / "operators/acme" / release) for release in ("1.1.0", "1.2.0", "1.2.0")]
    answer = everpath("bundle", "validate", *paths, "--show", "error")
    assert answer.out.startswith("Nothing wrong in 1 package and 2 bundles")


def test_a_missing_folder_is_an_error_with_a_hint(everpath: Everpath) -> None:
    answer = everpath("bundle", "validate", "nowhere")
    assert answer.code == 3
    assert answer.err == (
        "error: cannot read nowhere: No such file or directory\n"
        "hint: check the path; choose a bundle folder, a package folder or an operators repository\n"
    )
