"""`everpath catalog push`, `bundle push`, `catalog pull` and `bundle pull`."""

from __future__ import annotations

import errno
import json
import os
import signal
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from everpath.oci.registry.options import RetryPolicy
from tests.support.commandline import Everpath
from tests.support.everpath.bundle_folders import good_bundle, lay_out
from tests.support.everpath.catalogs import write_fbc
from tests.support.everpath.registry_server import FakeRegistry, ReceivedRequest, Reply, run_registry

_REGISTRY_VARIABLES = ("REGISTRY_AUTH_FILE", "DOCKER_CONFIG", "XDG_RUNTIME_DIR", "EVERPATH_INSECURE")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run without credentials and proxies."""
    for name in (*_REGISTRY_VARIABLES, *(n for n in os.environ if n.lower().endswith("_proxy"))):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr(RetryPolicy, "__init__", _without_sleep(RetryPolicy.__init__))


def _without_sleep(init: Any) -> Any:
    def new_init(self: RetryPolicy, **chosen: Any) -> None:
        init(self, **{**chosen, "sleep": lambda _: None})

    return new_init


@pytest.fixture
def server() -> Iterator[FakeRegistry]:
    with run_registry() as made:
        yield made


@pytest.fixture
def host(server: FakeRegistry) -> str:
    return server.address.removeprefix("http://")


@pytest.fixture
def catalog(here: Path) -> Path:
    return write_fbc(here, "b: a\na")


@pytest.fixture
def bundle(here: Path) -> Path:
    return lay_out(good_bundle(), here / "bundle")


def test_pushed_catalog_is_pulled_unchanged(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path, here: Path
) -> None:
    sent = everpath("catalog", "push", "catalog", f"{host}/me/catalog:v1", "--insecure")
    assert sent.code == 0
    assert sent.out.startswith(f"{host}/me/catalog:v1 is {host}/me/catalog@sha256:")
    assert sent.err.count("sent") == 10
    got = everpath("catalog", "pull", f"{host}/me/catalog:v1", "-o", "back", "--insecure")
    assert got.code == 0
    assert (here / "back" / "p.yaml").read_bytes() == (catalog / "p.yaml").read_bytes()
    assert sorted(path.name for path in here.iterdir()) == ["back", "catalog"]


def test_pushed_bundle_is_pulled_unchanged(everpath: Everpath, host: str, bundle: Path, here: Path) -> None:
    assert everpath("bundle", "push", "bundle", f"{host}/me/op:v1", "--insecure", "-q").err == ""
    assert everpath("bundle", "pull", f"{host}/me/op:v1", "--insecure").code == 0
    assert files(here / "op") == files(bundle)


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_push_and_build_print_the_same_digest(everpath: Everpath, host: str, catalog: Path) -> None:
    built = everpath("catalog", "build", "catalog", "-o", "oci:out", "--print-digest").out
    pushed = everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure", "--print-digest").out
    copied = everpath("catalog", "push", "oci:out", f"{host}/b:v1", "--insecure", "--print-digest").out
    assert built == pushed == copied


def test_image_is_copied_from_registry_to_registry(everpath: Everpath, host: str, catalog: Path) -> None:
    everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    with run_registry() as other:
        target = other.address.removeprefix("http://")
        assert everpath("catalog", "push", f"{host}/a:v1", f"{target}/b:v2", "--insecure").code == 0
        assert other.tag("b", "v2")


@pytest.mark.parametrize(
    "kept", ["oci:copy", "oci:copy:v2", "oci-archive:copy.tar", "docker-archive:copy.tar"]
)
def test_image_is_copied_to_disk_unchanged(everpath: Everpath, host: str, catalog: Path, kept: str) -> None:
    everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    assert everpath("catalog", "pull", f"{host}/a:v1", "-o", kept, "--insecure").code == 0
    assert everpath("list", "packages", kept).out.splitlines()[1].startswith("p ")


def test_blobs_are_mounted_within_a_registry(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path
) -> None:
    everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    answer = everpath("catalog", "push", f"{host}/a:v1", f"{host}/b:v1", "--insecure")
    assert answer.err.count("mounted") == 5


def test_mount_from_accepts_a_repository_with_or_without_the_host(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path
) -> None:
    everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    for number, name in enumerate(("a", f"{host}/a")):
        target = f"{host}/b{number}:v1"
        answer = everpath("catalog", "push", "catalog", target, "--mount-from", name, "--insecure")
        assert answer.err.count("mounted") == 5
    answer = everpath("catalog", "push", "catalog", f"{host}/c:v1", "--mount-from", "a:v1", "--insecure")
    assert answer.code == 2
    assert "without a tag" in answer.err


def test_folder_that_opm_rejects_is_not_pushed(
    everpath: Everpath, server: FakeRegistry, host: str, here: Path
) -> None:
    write_fbc(here, "b: a\na: b")
    answer = everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    assert answer.code == 1
    assert server.requests == []
    assert everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure", "--no-check").code == 0


def test_password_is_read_from_standard_input(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    arguments = ("catalog", "push", "catalog", f"{host}/a:v1", "--insecure", "--username", "ann")
    assert everpath(*arguments, "--password-stdin", stdin="secret\n").code == 0
    alone = everpath(*arguments)
    assert alone.code == 2
    assert "--username and --password-stdin go together" in alone.err


def test_password_for_the_target_is_not_sent_to_the_registry_of_the_source(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path
) -> None:
    with run_registry() as other:
        there = other.address.removeprefix("http://")
        everpath("catalog", "push", "catalog", f"{there}/me/catalog:v1", "--insecure")
        other.scheme, server.scheme, server.users = "basic", "basic", {"me": "secret"}
        given = ("--insecure", "--username", "me", "--password-stdin")
        args = ("catalog", "push", f"{there}/me/catalog:v1", f"{host}/me/c:v1", *given)
        assert everpath(*args, stdin="secret").code == 4
        assert all("authorization" not in asked.headers for asked in other.requests)
        other.scheme = None
        assert everpath(*args, stdin="secret").code == 0


def test_authfile_option_replaces_the_default_files(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path, here: Path
) -> None:
    server.scheme, server.users = "basic", {"ann": "secret"}
    auth = {"auths": {host: {"auth": b64encode(b"ann:secret").decode()}}}
    (here / "auth.json").write_text(json.dumps(auth))
    arguments = ("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    refused = everpath(*arguments)
    assert refused.code == 4
    assert f"podman login {host}" in refused.err
    assert everpath(*arguments, "--authfile", "auth.json").code == 0


def test_plain_http_requires_insecure(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path
) -> None:
    answer = everpath("catalog", "push", "catalog", f"{host}/a:v1")
    assert answer.code == 4
    assert "it does not speak TLS" in answer.err
    assert "--insecure" in answer.err


@pytest.mark.parametrize(("noun", "other"), [("catalog", "bundle"), ("bundle", "catalog")])
def test_image_of_the_other_kind_is_rejected(
    everpath: Everpath, host: str, catalog: Path, bundle: Path, noun: str, other: str
) -> None:
    everpath(other, "push", other, f"{host}/a:v1", "--insecure")
    for arguments in (("pull", f"{host}/a:v1", "-o", "x"), ("push", f"{host}/a:v1", f"{host}/b:v1")):
        answer = everpath(noun, *arguments, "--insecure")
        assert answer.code == 2
        assert f"is a {other}, not a {noun}" in answer.err


def test_pull_rejects_a_folder_that_is_not_empty(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path
) -> None:
    everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    answer = everpath("catalog", "pull", f"{host}/a:v1", "-o", "catalog", "--insecure")
    assert answer.code == 2
    assert "catalog exists and is not an empty folder" in answer.err


@pytest.mark.parametrize("out", ["back", "oci:back", "oci-archive:back.tar"])
def test_failed_pull_leaves_no_file(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path, here: Path, out: str
) -> None:
    everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    layer = next(digest for digest, data in server.blobs["a"].items() if data.startswith(b"\x1f\x8b"))
    server.blobs["a"][layer] = server.blobs["a"][layer][:-1] + b"?"
    answer = everpath("catalog", "pull", f"{host}/a:v1", "-o", out, "--insecure")
    assert answer.code == 3
    assert "has the wrong content" in answer.err
    assert [path.name for path in here.iterdir()] == ["catalog"]


def test_interrupted_pull_leaves_no_file(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path, here: Path
) -> None:
    everpath("catalog", "push", "catalog", f"{host}/me/catalog:v1", "--insecure")

    def ending(asked: ReceivedRequest) -> Reply | None:
        if asked.method == "GET" and "/blobs/" in asked.path and not list(here.glob(".everpath.*")):
            return None
        if asked.method == "GET" and "/blobs/" in asked.path:
            os.kill(os.getpid(), signal.SIGTERM)
        return None

    server.faults.append(ending)
    done = everpath("catalog", "pull", f"{host}/me/catalog:v1", "-o", "back", "--insecure")
    assert (done.code, done.err.splitlines()[-1]) == (130, "everpath: interrupted")
    assert sorted(path.name for path in here.iterdir()) == ["catalog"]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_full_disk_is_reported_and_leaves_no_file(
    everpath: Everpath, host: str, catalog: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("everpath.oci.layouts.copy_blob", full)
    answer = everpath("catalog", "pull", f"{host}/a:v1", "-o", "oci:back", "--insecure")
    assert answer.code == 2
    assert "cannot write back: No space left on device" in answer.err
    assert [path.name for path in here.iterdir()] == ["catalog"]


def test_write_error_names_the_path_of_the_user(
    everpath: Everpath, host: str, catalog: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("everpath.oci.unpack._place_file", full)
    answer = everpath("catalog", "pull", f"{host}/a:v1", "-o", "back", "--insecure")
    assert answer.code == 2
    assert "cannot write back: No space left on device" in answer.err
    assert [path.name for path in here.iterdir()] == ["catalog"]


def test_interrupted_push_is_reported_and_completed_by_the_next(
    everpath: Everpath, server: FakeRegistry, host: str, catalog: Path
) -> None:
    server.faults.append(
        lambda asked: Reply(500) if "manifests/v1" in asked.path and asked.method == "PUT" else None
    )
    answer = everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    assert answer.code == 4
    assert server.tag("a", "v1") is None
    server.faults.clear()
    again = everpath("catalog", "push", "catalog", f"{host}/a:v1", "--insecure")
    assert again.err.count("already exists") == 9
    assert server.tag("a", "v1")


def test_pull_from_disk_requires_an_output(everpath: Everpath, catalog: Path) -> None:
    everpath("catalog", "build", "catalog", "-o", "oci:out")
    answer = everpath("catalog", "pull", "oci:out")
    assert answer.code == 2
    assert "name a folder with -o" in answer.err


def test_pull_creates_parent_folders(everpath: Everpath, host: str, bundle: Path, here: Path) -> None:
    everpath("bundle", "push", "bundle", f"{host}/op:v1", "--insecure")
    out = "bundles/op/1.0.0"
    assert everpath("bundle", "pull", f"{host}/op:v1", "-o", out, "--insecure").code == 0
    assert files(here / out) == files(bundle)


def test_push_rejects_a_target_on_disk(everpath: Everpath, catalog: Path) -> None:
    answer = everpath("catalog", "push", "catalog", "oci:out")
    assert answer.code == 2
    assert "oci:out is not in a registry" in answer.err


def test_pull_rejects_an_output_in_a_registry(everpath: Everpath, host: str, catalog: Path) -> None:
    answer = everpath("catalog", "pull", f"{host}/a:v1", "-o", "docker://r.example/b:v1", "--insecure")
    assert answer.code == 2
    assert "catalog push" in answer.err
