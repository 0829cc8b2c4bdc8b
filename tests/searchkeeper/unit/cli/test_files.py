"""Manifests in files: what is read, and what is rejected with its line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.support.commandline import ROOT
from tests.support.searchkeeper.operator_runs import new_cluster
from tests.support.searchkeeper.searchkeeper_commands import VALID, invoke, invoke_json, manifests_of

SAMPLE = ROOT / "operator/config/samples/searchcluster.yaml"
COMMANDS = ["plan", "status", "versions"]
CLUSTER = "{apiVersion: search.everpath.dev/v1alpha1, kind: SearchCluster, metadata: {name: logs}%s}"


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            b"",
            "no SearchCluster found in objects.yaml: no objects\nhint: `kubectl get searchclusters",
        ),
        (
            b"{apiVersion: v1, kind: Service, metadata: {name: logs}}",
            "no SearchCluster found in objects.yaml; found Service logs\n",
        ),
        (b"a: [\n", "objects.yaml:2:1: invalid YAML: expected the node content"),
        (b"a: \x00", "objects.yaml: invalid YAML: unacceptable character"),
        (b"a: 2026-13-45", "objects.yaml: invalid YAML: month must be in 1..12"),
        (b"[" * 5000, "objects.yaml: invalid YAML: maximum recursion depth"),
        (b"a: \xff", "objects.yaml: not a text file: byte 4 is not UTF-8\nhint: -f takes YAML or JSON"),
    ],
)
def test_unusable_file_is_an_error(
    text: bytes, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("objects.yaml").write_bytes(text)
    result = invoke("plan", "-f", "objects.yaml")

    assert result.exit_code == 3
    assert result.stderr.startswith(f"error: {message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "expected"),
        ("kind: Pod", "not a Kubernetes object"),
        ("- 1", "not a Kubernetes object"),
        ("", "no SearchCluster found"),
    ],
)
def test_unusable_standard_input_is_an_error(text: str, message: str) -> None:
    result = invoke("plan", "-f", "-", stdin=text)

    assert result.exit_code == 3
    assert message in result.output


@pytest.mark.parametrize(
    ("right", "wrong", "pattern"),
    [
        ("dev/v1alpha1", "dev/v1", "line 1: apiVersion: unknown version search.everpath.dev/v1: write "),
        ("everpath.dev", "everpath.io", "line 1: apiVersion: unknown version search.everpath.io/v1alpha1: "),
        (
            "SearchCluster",
            "Searchcluster",
            "line 2: kind: unknown kind Searchcluster; known are SearchCluster, SearchPool: did you mean ",
        ),
        ("2.19.4", "2.19", r"line 5: spec\.version: .*must be .* like 2\.19\.4"),
        ("replicas", "replicsa", r"line 7: spec\.pools\[0\]\.replicsa: .*did you mean .?replicas"),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_invalid_object_is_an_error_with_its_line(command: str, right: str, wrong: str, pattern: str) -> None:
    result = invoke(command, "-f", "-", stdin=VALID.replace(right, wrong))

    assert result.exit_code == 3
    assert re.search(pattern, result.stderr)
    assert invoke(command, "-f", "-", stdin=VALID).exit_code == 0


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (f"{VALID}  version: 3.4.0\n", ["line 8: spec.version: duplicate of line 5: remove one of them"]),
        (
            f"kind: SearchCluster\n{VALID}".replace("replicas: 3}", "replicas: 3,\n     replicas: x}"),
            [
                "line 3: kind: duplicate of line 1: remove one of them",
                "line 9: spec.pools[0].replicas: duplicate of line 8: remove one of them",
            ],
        ),
        (
            VALID + '---\n{"apiVersion": "v1", "kind": "Service",\n"metadata": {"name": "a", "name": "a"}}',
            ["line 10: metadata.name: duplicate of line 10: remove one of them"],
        ),
        (
            f"{VALID}---\nkind: ConfigMap\ndata:\n  1: a\n  '1': b\n",
            ["line 12: data.1: duplicate of line 11: remove one of them"],
        ),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_duplicate_key_is_an_error_with_both_lines(command: str, text: str, lines: list[str]) -> None:
    result = invoke(command, "-f", "-", stdin=text)

    assert result.exit_code == 3
    assert result.stderr == "error: -: duplicate keys:\n" + "".join(f"         {line}\n" for line in lines)


def test_merge_keys_and_aliases_are_no_duplicates() -> None:
    pools = """
  - &one {name: all, roles: [data, cluster_manager], replicas: 3, storage: &size {size: 5Gi}}
  - {<<: *one, name: others, storage: {<<: *size, size: 9Gi}}
  - {name: more, roles: [data], replicas: 1, storage: *size}
"""
    document = invoke_json("status", "-f", "-", stdin=VALID.partition("\n  - ")[0] + pools)

    assert document["clusters"][0]["ready"] == "0/7"


def test_list_that_contains_itself_is_no_object() -> None:
    assert "not a Kubernetes object: it is a list\n" in invoke("plan", "-f", "-", stdin="&a [*a]").stderr


def test_line_is_counted_from_start_of_file() -> None:
    items = "kind: List\nitems:\n" + "- " + VALID.replace("\n", "\n  ").replace("2.19.4", "x")
    result = invoke("plan", "-f", "-", stdin=f"# a comment\n---\n{items}")

    assert re.search(r"line 9: spec\.version: .*x.* like 2\.19\.4\n", result.stderr)


def test_folder_is_read_as_kubectl_reads_it(tmp_path: Path) -> None:
    empty = invoke("plan", "-f", str(tmp_path))
    (tmp_path / "a.yaml").write_text(VALID)
    (tmp_path / "b.json").write_text(json.dumps(yaml.safe_load(VALID.replace("name: logs", "name: shop"))))
    (tmp_path / "README.md").write_text("[")

    assert empty.exit_code == 3
    assert f"error: {tmp_path}: the folder has no .yaml, .yml, .json file\n" in empty.stderr
    clusters = invoke_json("status", "-f", str(tmp_path))["clusters"]
    assert [each["cluster"] for each in clusters] == ["default/logs", "default/shop"]


SECURED = VALID + "  security: {credentialsSecret: admin, tlsSecret: certificates}\n"


def test_secret_that_is_not_in_the_files_is_noted() -> None:
    result = invoke("plan", "-f", "-", stdin=SECURED)

    assert "note: Secret admin is not in the files and counts as missing\n" in result.stderr
    assert "note: Secret certificates is not in the files" in result.stderr


def test_string_data_of_a_secret_is_encoded_as_data() -> None:
    entries = "{username: YWRtaW4=, password: YWRtaW4=}"
    secret = f"{{apiVersion: v1, kind: Secret, metadata: {{name: admin}}, %s: {entries}}}"
    plain, encoded, other = (
        invoke("plan", "-f", "-", stdin=f"{SECURED}---\n{secret % field}").stdout
        for field in ("stringData", "data", "others")
    )

    assert "CredentialsMissing" in other
    assert "CredentialsMissing" not in plain
    assert plain == encoded


INVALID = "SearchCluster logs is invalid:\n         line 1: "
VOTER = "{name: a, roles: [cluster_manager], replicas: 3}"


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        (CLUSTER % "", INVALID + "spec: .*"),
        (
            CLUSTER % f", spec: {{version: 3, pools: [{VOTER}]}}",
            INVALID + r"spec\.version: .*must be .* like 2\.19\.4",
        ),
        (
            CLUSTER % ", spec: {version: 2.19.4, pools: [{roles: [data], replicas: 1}]}",
            INVALID + r"spec\.pools\[0\]\.name: .*",
        ),
        (
            CLUSTER % ", spec: {version: 2.19.4, pools: hello}",
            INVALID + r"spec\.pools: .*must be a list",
        ),
        (
            CLUSTER % f", spec: {{version: 2.19.4, pools: [{VOTER}], upgrade: {{rollback: Never}}}}",
            INVALID + r"spec\.upgrade\.rollback: .*Never.*Automatic.*Manual.*Off",
        ),
        (
            CLUSTER % ", spec: {version: 2.19.4, pools: [{name: a, roles: [data], replicas: 1}]}",
            INVALID + r"spec\.pools: .* pool with the role cluster_manager must have replicas",
        ),
        (
            CLUSTER % f", spec: {{version: 2.19.4, pools: [{VOTER}]}}, status: {{conditions: [{{}}]}}",
            INVALID + r"status\.conditions\[0\]\.type: .*",
        ),
        (
            "{apiVersion: v1, kind: Pod, metadata: {name: logs-data-0}}",
            "Pod logs-data-0 is malformed: spec is missing",
        ),
    ],
)
@pytest.mark.parametrize("command", COMMANDS)
def test_object_that_no_api_server_stores_is_an_error(command: str, text: str, pattern: str) -> None:
    result = invoke(command, "-f", "-", stdin=text)

    assert result.exit_code == 3
    assert re.search(f"^error: -: {pattern}", result.output)


HINT = "-f takes objects with apiVersion, kind and metadata.name, as `kubectl get -o yaml` prints them\n"


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("{items: 5}", 1, "it is text or a number"),
        ("\n- 1\n", 2, "it is a list"),
        ("apiVersion: v1\nmetadata: {name: a}", 1, "kind is missing or not a string"),
        ("apiVersion: v1\nkind: 5\nmetadata: {name: a}", 2, "kind is missing or not a string"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {}", 3, "metadata.name is missing or not a string"),
        (f"{VALID}---\nreplicas: 3\n", 9, "apiVersion is missing or not a string"),
        ("kind: List\nitems:\n- kind: Pod\n  apiVersion: 1\n", 4, "apiVersion is missing or not a string"),
    ],
)
def test_document_that_is_no_object_is_an_error_with_its_line(text: str, line: int, problem: str) -> None:
    result = invoke("plan", "-f", "-", stdin=text)

    assert result.exit_code == 3
    assert result.stderr == f"error: -:{line}: not a Kubernetes object: {problem}\nhint: {HINT}"


def test_olm_catalog_is_an_error_with_a_hint() -> None:
    result = invoke("plan", "-f", "-", stdin="---\nschema: olm.package\nname: searchkeeper\n")

    assert result.exit_code == 3
    assert result.stderr.startswith("error: -:2: not a Kubernetes object: apiVersion is missing")
    assert (
        f"hint: olm.package belongs to an OLM catalog, see `everpath list packages`; {HINT}" in result.stderr
    )


def test_namespace_option_is_default_of_objects() -> None:
    sample = ("-f", str(SAMPLE))

    for command in COMMANDS:
        [given], [default] = (
            invoke_json(command, *place, *sample)["clusters"] for place in (("-n", "search"), ())
        )
        assert given["cluster"] == "search/logs"
        assert default["cluster"] == "default/logs"


@pytest.mark.parametrize("empty", ["", '""', "null"])
def test_empty_namespace_is_no_namespace(empty: str) -> None:
    text = SAMPLE.read_text(encoding="utf-8").replace(
        "  name: logs\n", f"  name: logs\n  namespace: {empty}\n"
    )

    [cluster] = invoke_json("plan", "-f", "-", "-n", "search", stdin=text)["clusters"]

    assert cluster["cluster"] == "search/logs"


@pytest.mark.parametrize(
    ("arguments", "place"), [(("-f", "-"), " in -"), (("--embedded",), ""), (("logs", "--embedded"), "")]
)
def test_cluster_of_another_namespace_is_named(arguments: tuple[str, ...], place: str) -> None:
    result = invoke("plan", *arguments, "-n", "other", stdin=manifests_of(new_cluster()))

    assert result.exit_code == 3
    assert f" in namespace other{place}; found SearchCluster logs in namespace search\n" in result.stderr
    assert "hint: -n selects a namespace; without -n all namespaces are searched\n" in result.stderr
    assert "kubectl" not in result.stderr
