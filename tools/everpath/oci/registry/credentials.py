"""Who we are to a registry: what docker login and podman login left behind, and the helpers they name."""

from __future__ import annotations

__all__ = ["Credential", "Helper", "auth_files", "find_credential", "run_helper"]

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
_HUB_KEYS: Final = ("https://index.docker.io/v1/", "index.docker.io", _DOCKER_HUB)
#: The user name under which helpers and auth files keep an identity token.
_TOKEN_USER: Final = "<token>"
_HELPER_TIME: Final = 60
_LONGEST_FILE: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Credential:
    """A name and a password, or a token that gives others (`identitytoken`)."""

    username: str
    password: str = field(default="", repr=False)
    identity_token: str = field(default="", repr=False)


#: Asks a credential helper: its name and the server in, its answer out; None if it knows nobody there.
Helper = Callable[[str, str], Credential | None]


def auth_files(environment: Mapping[str, str], chosen: str | None = None) -> Sequence[Path]:
    """Where credentials may be, best first; a chosen file alone. REGISTRY_AUTH_FILE counts as chosen."""
    chosen = chosen or environment.get("REGISTRY_AUTH_FILE")
    if chosen:
        return [Path(chosen)]
    home = environment.get("HOME", "")
    runtime, settings = environment.get("XDG_RUNTIME_DIR"), environment.get("XDG_CONFIG_HOME")
    docker = environment.get("DOCKER_CONFIG")
    places = [
        Path(runtime, "containers/auth.json") if runtime else None,
        Path(settings or Path(home, ".config"), "containers/auth.json") if settings or home else None,
        Path(docker or Path(home, ".docker"), "config.json") if docker or home else None,
    ]
    return [place for place in places if place is not None]


def find_credential(
    name: str, environment: Mapping[str, str], helper: Helper, *, chosen: str | None = None
) -> Credential | None:
    """The credential for `host/repository` in the first file that has one. Raises UsageError.

    In a file a helper of that host comes first, then the longest key that the name starts with, then the
    helper of all hosts. A file that cannot be read as one is told: to go on without would end in a 401 that
    nobody understands.
    """
    for file in auth_files(environment, chosen):
        settings = _settings(file, required=chosen is not None)
        found = _of_file(file, settings, name, helper)
        if found is not None:
            return found
    return None


def run_helper(helper: str, server: str) -> Credential | None:
    """Ask `docker-credential-NAME get`. Raises UsageError when it cannot be run or answers nonsense."""
    program = f"docker-credential-{helper}"
    try:
        done = subprocess.run(
            [program, "get"], input=server.encode(), capture_output=True, timeout=_HELPER_TIME, check=False
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        reason = error.strerror if isinstance(error, OSError) else type(error).__name__
        hint = "install it, or log in with a tool that writes the credential into the auth file"
        raise UsageError(f"cannot run {program}, which the auth file names: {reason}", hint=hint) from error
    if done.returncode != 0:
        said = (done.stdout + done.stderr).decode(errors="replace").strip()
        if "not found" in said.lower():
            return None
        raise UsageError(f"{program} fails for {server}: {said or f'exit code {done.returncode}'}")
    try:
        answer = json.loads(done.stdout)
        user, secret = str(answer["Username"]), str(answer["Secret"])
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise UsageError(f"{program} answers no credential for {server}") from error
    return Credential("", identity_token=secret) if user == _TOKEN_USER else Credential(user, secret)


def _settings(file: Path, *, required: bool) -> Mapping[str, Any]:
    try:
        with file.open("rb") as stream:
            data = stream.read(_LONGEST_FILE + 1)
        if len(data) > _LONGEST_FILE:
            raise _misshapen(file, f"it has more than {_LONGEST_FILE >> 20} MiB")
        content = json.loads(data or b"{}")
    except (FileNotFoundError, NotADirectoryError) as error:
        # A home that is no folder (HOME=/dev/null) has no file either.
        if required:
            raise UsageError(f"cannot read {file}: {error.strerror}", hint="--authfile names it") from error
        return {}
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _misshapen(file, "it is no JSON") from error
    if not isinstance(content, dict):
        raise _misshapen(file, "it is no JSON object")
    return content


def _of_file(file: Path, settings: Mapping[str, Any], name: str, helper: Helper) -> Credential | None:
    registry = name.partition("/")[0]
    helpers, auths = settings.get("credHelpers") or {}, settings.get("auths") or {}
    if not isinstance(helpers, dict) or not isinstance(auths, dict):
        raise _misshapen(file, "credHelpers and auths are objects")
    server = _HUB_KEYS[0] if registry == _DOCKER_HUB else registry
    named = next((helpers[key] for key in _keys(registry) if key in helpers), None)
    if named:
        return helper(str(named), server)
    normal = {_normal(key): value for key, value in auths.items()}
    for key in _keys(name):
        if key in normal and (found := _entry(file, key, normal[key])) is not None:
            return found
    store = settings.get("credsStore")
    return helper(str(store), server) if store else None


def _keys(name: str) -> Iterator[str]:
    """From the longest: `host/a/b`, `host/a`, `host`; and for Docker Hub what it was called before."""
    parts = name.split("/")
    for length in range(len(parts), 0, -1):
        yield "/".join(parts[:length])
    if parts[0] == _DOCKER_HUB:
        yield from (_normal(key) for key in _HUB_KEYS)


def _normal(key: str) -> str:
    """A key without scheme and API version, which docker login writes for some hosts."""
    bare = key.removeprefix("https://").removeprefix("http://").rstrip("/")
    return bare.removesuffix("/v1").removesuffix("/v2")


def _entry(file: Path, key: str, entry: object) -> Credential | None:
    """What stands at a key; None for the empty entry that marks a helper's host."""
    if not isinstance(entry, dict):
        raise _misshapen(file, f"auths.{key} is no object")
    if entry.get("identitytoken"):
        return Credential("", identity_token=str(entry["identitytoken"]))
    if not entry.get("auth"):
        user, password = entry.get("username"), entry.get("password")
        return Credential(str(user), str(password)) if user and password else None
    try:
        user, colon, password = b64decode(str(entry["auth"]), validate=True).decode().partition(":")
    except (NotBase64, ValueError) as error:
        raise _misshapen(file, f"auths.{key}.auth is not base64") from error
    if not colon:
        raise _misshapen(file, f"auths.{key}.auth holds no user:password")
    password = password.rstrip("\0")
    return Credential("", identity_token=password) if user == _TOKEN_USER else Credential(user, password)


def _misshapen(file: Path, reason: str) -> UsageError:
    return UsageError(f"{file} is no auth file: {reason}", hint="log in again: it is written anew")
