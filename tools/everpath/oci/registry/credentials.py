"""Credentials of `docker login` and `podman login`: auth files and credential helpers."""

from __future__ import annotations

__all__ = ["Credential", "CredentialHelper", "auth_files", "find_credential", "run_helper"]

import json
import subprocess
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from everpath.errors import UsageError

_DOCKER_HUB: Final = "docker.io"
_DOCKER_HUB_KEYS: Final = ("https://index.docker.io/v1/", "index.docker.io", _DOCKER_HUB)
# The user name that marks an identity token in auth files and helpers.
_TOKEN_USER: Final = "<token>"
_HELPER_TIMEOUT: Final = 60
_MAX_FILE_SIZE: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Credential:
    """User name and password, or an identity token that is exchanged for access tokens."""

    username: str
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)


#: Takes the name of a helper and a server. Returns None if the helper has no credential for the server.
CredentialHelper = Callable[[str, str], Credential | None]


def auth_files(environment: Mapping[str, str], authfile: str | None = None) -> Sequence[Path]:
    """Return the files to search in order. `authfile`, or else REGISTRY_AUTH_FILE, replaces all others."""
    authfile = authfile or environment.get("REGISTRY_AUTH_FILE")
    if authfile:
        return [Path(authfile)]
    home = environment.get("HOME", "")
    runtime, config = environment.get("XDG_RUNTIME_DIR"), environment.get("XDG_CONFIG_HOME")
    docker = environment.get("DOCKER_CONFIG")
    files = [
        Path(runtime, "containers/auth.json") if runtime else None,
        Path(config or Path(home, ".config"), "containers/auth.json") if config or home else None,
        Path(docker or Path(home, ".docker"), "config.json") if docker or home else None,
    ]
    return [file for file in files if file is not None]


def find_credential(
    name: str, environment: Mapping[str, str], helper: CredentialHelper, *, authfile: str | None = None
) -> Credential | None:
    """Return the credential for `host/repository` from the first file that has one.

    In each file the helper for the host comes first, then the longest matching key, then the helper for all
    hosts. Raises UsageError for an invalid file: without it the registry would respond with an unexplained
    401.
    """
    for file in auth_files(environment, authfile):
        settings = _load_settings(file, required=authfile is not None)
        credential = _find_in_file(file, settings, name, helper)
        if credential is not None:
            return credential
    return None


def run_helper(helper: str, server: str) -> Credential | None:
    """Run `docker-credential-HELPER get`. Raises UsageError if it fails."""
    program = f"docker-credential-{helper}"
    try:
        process = subprocess.run(
            [program, "get"], input=server.encode(), capture_output=True, timeout=_HELPER_TIMEOUT, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        reason = error.strerror if isinstance(error, OSError) else type(error).__name__
        hint = "install it, or log in with a tool that writes the credential into the auth file"
        raise UsageError(f"cannot run {program}, which the auth file names: {reason}", hint=hint) from error
    if process.returncode != 0:
        output = (process.stdout + process.stderr).decode(errors="replace").strip()
        if "not found" in output.lower():
            return None
        raise UsageError(f"{program} fails for {server}: {output or f'exit code {process.returncode}'}")
    try:
        document = json.loads(process.stdout)
        user, secret = str(document["Username"]), str(document["Secret"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise UsageError(f"{program} returns no credential for {server}") from error
    return Credential("", identity_token=secret) if user == _TOKEN_USER else Credential(user, secret)


def _load_settings(file: Path, *, required: bool) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stream:
            data = stream.read(_MAX_FILE_SIZE + 1)
        if len(data) > _MAX_FILE_SIZE:
            raise _invalid_file(file, f"it has more than {_MAX_FILE_SIZE >> 20} MiB")
        settings = json.loads(data or b"{}")
    except (FileNotFoundError, NotADirectoryError) as error:
        # NotADirectoryError: HOME may be a file, such as /dev/null.
        if required:
            raise UsageError(f"cannot read {file}: {error.strerror}", hint="--authfile names it") from error
        return {}
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _invalid_file(file, "it is not JSON") from error
    if not isinstance(settings, dict):
        raise _invalid_file(file, "it is not a JSON object")
    return settings


def _find_in_file(
    file: Path, settings: Mapping[str, Any], name: str, helper: CredentialHelper
) -> Credential | None:
    registry = name.partition("/")[0]
    helpers, auths = settings.get("credHelpers") or {}, settings.get("auths") or {}
    if not isinstance(helpers, dict) or not isinstance(auths, dict):
        raise _invalid_file(file, "credHelpers and auths must be objects")
    server = _DOCKER_HUB_KEYS[0] if registry == _DOCKER_HUB else registry
    if host_helper := next((helpers[key] for key in _candidate_keys(registry) if key in helpers), None):
        return helper(str(host_helper), server)
    entries = {_normalize_key(key): entry for key, entry in auths.items()}
    for key in _candidate_keys(name):
        if key in entries and (found := _parse_entry(file, key, entries[key])) is not None:
            return found
    store = settings.get("credsStore")
    return helper(str(store), server) if store else None


def _candidate_keys(name: str) -> Iterator[str]:
    """Yield `host/a/b`, `host/a`, `host`, and for Docker Hub its other names."""
    parts = name.split("/")
    for length in range(len(parts), 0, -1):
        yield "/".join(parts[:length])
    if parts[0] == _DOCKER_HUB:
        yield from map(_normalize_key, _DOCKER_HUB_KEYS)


def _normalize_key(key: str) -> str:
    """Remove the scheme and the API version, which docker login writes for some hosts."""
    bare = key.removeprefix("https://").removeprefix("http://").rstrip("/")
    return bare.removesuffix("/v1").removesuffix("/v2")


def _parse_entry(file: Path, key: str, entry: object) -> Credential | None:
    """Parse an entry of `auths`; None for the empty entry of a host that has a helper."""
    if not isinstance(entry, dict):
        raise _invalid_file(file, f"auths.{key} is not an object")
    if entry.get("identitytoken"):
        return Credential("", identity_token=str(entry["identitytoken"]))
    if not entry.get("auth"):
        user, password = entry.get("username"), entry.get("password")
        return Credential(str(user), str(password)) if user and password else None
    try:
        user, colon, password = b64decode(str(entry["auth"]), validate=True).decode().partition(":")
    except (NotBase64, ValueError) as error:
        raise _invalid_file(file, f"auths.{key}.auth is not base64") from error
    if not colon:
        raise _invalid_file(file, f"auths.{key}.auth is not user:password")
    password = password.rstrip("\0")
    return Credential("", identity_token=password) if user == _TOKEN_USER else Credential(user, password)


def _invalid_file(file: Path, reason: str) -> UsageError:
    return UsageError(f"{file} is not an auth file: {reason}", hint="log in again to create a new one")
