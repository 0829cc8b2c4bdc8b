"""Auth files and credential helpers."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from everpath.errors import UsageError
from everpath.oci.registry.credentials import Credential, auth_files, find_credential, run_helper


def entry(user: str, password: str = "secret") -> dict[str, str]:
    return {"auth": b64encode(f"{user}:{password}".encode()).decode()}


def no_helper(helper: str, server: str) -> Credential | None:
    raise AssertionError(f"{helper} was asked for {server}")


def find_user(settings: Any, name: str, tmp_path: Path) -> str | None:
    (tmp_path / "auth.json").write_text(json.dumps(settings))
    credential = find_credential(name, {}, no_helper, authfile=str(tmp_path / "auth.json"))
    return credential.username if credential else None


@pytest.mark.parametrize(
    ("name", "user"),
    [
        ("r.example/team/catalog", "catalog"),
        ("r.example/team/other", "team"),
        ("r.example/teams/x", "host"),
        ("r.example", "host"),
        ("r.example:5000/team", None),
        ("other.example/x", None),
    ],
)
def test_longest_matching_key_wins(name: str, user: str | None, tmp_path: Path) -> None:
    auths = {
        "r.example": entry("host"),
        "r.example/team/catalog": entry("catalog"),
        "r.example/team": entry("team"),
    }
    assert find_user({"auths": auths}, name, tmp_path) == user


@pytest.mark.parametrize("key", ["https://index.docker.io/v1/", "docker.io", "index.docker.io"])
def test_docker_hub_has_several_keys(key: str, tmp_path: Path) -> None:
    assert find_user({"auths": {key: entry("hub")}}, "docker.io/library/x", tmp_path) == "hub"


@pytest.mark.parametrize("key", ["https://r.example", "http://r.example/v2/", "https://r.example/v1/"])
def test_keys_may_have_scheme_and_api_version(key: str, tmp_path: Path) -> None:
    assert find_user({"auths": {key: entry("ann")}}, "r.example/x", tmp_path) == "ann"


def test_password_may_contain_colon(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(json.dumps({"auths": {"r.example": entry("ann", "a:b")}}))
    assert find_credential("r.example", {}, no_helper, authfile=str(tmp_path / "a")) == Credential(
        "ann", "a:b"
    )


@pytest.mark.parametrize("raw", [{"identitytoken": "deep"}, entry("<token>", "deep")])
def test_identity_token_is_recognized(raw: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "a").write_text(json.dumps({"auths": {"r.example": raw}}))
    assert find_credential("r.example", {}, no_helper, authfile=str(tmp_path / "a")) == Credential(
        "", identity_token="deep"
    )


def test_host_helper_precedes_auths_and_default_helper_follows(tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def helper(name: str, server: str) -> Credential | None:
        asked.append((name, server))
        return Credential(name)

    settings = {
        "credHelpers": {"r.example": "one"},
        "credsStore": "store",
        "auths": {"r.example": entry("file"), "in.example": entry("file"), "empty.example": {}},
    }
    (tmp_path / "a").write_text(json.dumps(settings))
    for name in ("r.example/x", "in.example/x", "empty.example/x", "docker.io/library/x"):
        find_credential(name, {}, helper, authfile=str(tmp_path / "a"))
    assert asked == [
        ("one", "r.example"),
        ("store", "empty.example"),
        ("store", "https://index.docker.io/v1/"),
    ]


def test_auth_files_are_podman_then_docker() -> None:
    environment = {"XDG_RUNTIME_DIR": "/run/u", "HOME": "/home/u"}
    assert list(map(str, auth_files(environment))) == [
        "/run/u/containers/auth.json",
        "/home/u/.config/containers/auth.json",
        "/home/u/.docker/config.json",
    ]
    moved = {"HOME": "/home/u", "DOCKER_CONFIG": "/d", "XDG_CONFIG_HOME": "/c"}
    assert list(map(str, auth_files(moved))) == ["/c/containers/auth.json", "/d/config.json"]
    assert list(map(str, auth_files({"REGISTRY_AUTH_FILE": "/a", "HOME": "/h"}))) == ["/a"]
    assert list(map(str, auth_files({"REGISTRY_AUTH_FILE": "/a"}, "/b"))) == ["/b"]
    assert list(auth_files({})) == []


def test_next_auth_file_is_searched(tmp_path: Path) -> None:
    for name, auths in (("containers/auth.json", {}), ("config.json", {"r.example": entry("docker")})):
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps({"auths": auths}))
    environment = {"XDG_RUNTIME_DIR": str(tmp_path), "DOCKER_CONFIG": str(tmp_path)}
    assert find_credential("r.example/x", environment, no_helper) == Credential("docker", "secret")


def test_missing_authfile_option_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        find_credential("r.example", {}, no_helper, authfile=str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "it is not JSON"),
        ("[]", "not a JSON object"),
        ('{"auths": []}', None),
        ('{"auths": [1]}', "must be objects"),
        ('{"auths": {"r.example": 1}}', "auths.r.example is not an object"),
        ('{"auths": {"r.example": {"auth": "%"}}}', "is not base64"),
        ('{"auths": {"r.example": {"auth": "YQ=="}}}', "is not user:password"),
    ],
)
def test_invalid_auth_file_is_rejected(text: str, reason: str | None, tmp_path: Path) -> None:
    (tmp_path / "a").write_text(text)
    if reason is None:
        assert find_credential("r.example", {}, no_helper, authfile=str(tmp_path / "a")) is None
        return
    with pytest.raises(UsageError, match=reason):
        find_credential("r.example", {}, no_helper, authfile=str(tmp_path / "a"))


def helper_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    program = tmp_path / "docker-credential-test"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


def test_helper_gets_server_on_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'test "$1" = get && printf \'{"Username": "ann", "Secret": "%s"}\' "$(cat)"'
    helper_program(tmp_path, monkeypatch, script)
    assert run_helper("test", "r.example") == Credential("ann", "r.example")


@pytest.mark.parametrize(
    ("script", "reason"),
    [("exit 3", "exit code 3"), ("echo locked; exit 1", "locked"), ("echo {}", "returns no credential")],
)
def test_failing_helper_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, reason: str
) -> None:
    helper_program(tmp_path, monkeypatch, f"cat >/dev/null; {script}")
    with pytest.raises(UsageError, match=reason):
        run_helper("test", "r.example")


def test_helper_without_credential_is_not_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    helper_program(tmp_path, monkeypatch, "echo credentials not found in native keychain; exit 1")
    assert run_helper("test", "r.example") is None


def test_missing_helper_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="cannot run docker-credential-none"):
        run_helper("none", "r.example")


def test_repr_hides_secrets() -> None:
    assert "secret" not in repr(Credential("ann", "secret", "secret"))
