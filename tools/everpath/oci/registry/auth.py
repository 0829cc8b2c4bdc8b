"""Authentication: basic authentication, and tokens of the server that a registry names."""

from __future__ import annotations

__all__ = ["Authenticator", "Challenge", "TokenScope", "parse_challenges"]

import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit, urlunsplit

from everpath import __version__
from everpath.errors import Unreachable
from everpath.oci.registry.credentials import Credential
from everpath.oci.registry.errors import response_error
from everpath.oci.registry.http_client import RegistryRequest, RegistryResponse

# RFC 9110, tokens and quoted strings.
_WORD: Final = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER: Final = re.compile(rf'\s*,?\s*({_WORD})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|({_WORD}))')
_SCHEME: Final = re.compile(rf"\s*,?\s*({_WORD})(?=\s|,|$)")
_ESCAPED: Final = re.compile(r"\\(.)")

# The token specification: a token without a lifetime is valid for 60 seconds.
_MIN_LIFETIME: Final = 60
_EXPIRY_MARGIN: Final = 10
_MAX_TOKEN_RESPONSE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Challenge:
    """A challenge of the header WWW-Authenticate. The scheme is in lower case."""

    scheme: str
    parameters: Mapping[str, str] = field(default_factory=dict)


def parse_challenges(header: str) -> Iterator[Challenge]:
    """Yield the challenges of a header, up to the first that cannot be parsed."""
    position = 0
    while scheme := _SCHEME.match(header, position):
        position = scheme.end()
        parameters: dict[str, str] = {}
        while (found := _PARAMETER.match(header, position)) is not None:
            name, quoted, plain = found.groups()
            parameters[name.lower()] = _ESCAPED.sub(r"\1", quoted) if quoted is not None else plain
            position = found.end()
        yield Challenge(scheme.group(1).lower(), parameters)


class TokenScope(NamedTuple):
    """Permissions for a repository, as a token states them."""

    repository: str
    actions: str = "pull"

    def __str__(self) -> str:
        return f"repository:{self.repository}:{self.actions}"


class _Token(NamedTuple):
    header: str
    expires: float


class Authenticator:
    """Provides the Authorization headers for one registry."""

    def __init__(
        self,
        host: str,
        find_credential: Callable[[str], Credential | None],
        send: Callable[[RegistryRequest], RegistryResponse],
        now: Callable[[], float],
        *,
        insecure: bool,
    ) -> None:
        self._host = host
        self._find_credential = find_credential
        self._send = send
        self._now = now
        self._insecure = insecure
        self._tokens: dict[tuple[TokenScope, ...], _Token] = {}
        self._uses_basic = False

    def cached_header(self, scopes: tuple[TokenScope, ...]) -> str | None:
        """Return a header that the registry has accepted before and that has not expired."""
        if self._uses_basic:
            return self._basic_header(scopes)
        token = self._tokens.get(scopes)
        return token.header if token is not None and self._now() < token.expires else None

    def answer_challenges(
        self, challenges: Iterable[Challenge], scopes: tuple[TokenScope, ...]
    ) -> str | None:
        """Return the header for a challenge, None without a credential. Fetches a token if that is requested.

        Raises Unreachable.
        """
        by_scheme = {challenge.scheme: challenge for challenge in challenges}
        if "bearer" in by_scheme:
            token = self._fetch_token(by_scheme["bearer"].parameters, scopes)
            self._tokens[scopes] = token
            return token.header
        if "basic" in by_scheme:
            header = self._basic_header(scopes)
            self._uses_basic = header is not None
            return header
        return None

    def _basic_header(self, scopes: tuple[TokenScope, ...]) -> str | None:
        credential = self._find_credential(scopes[0].repository if scopes else "")
        return _basic(credential) if credential is not None and credential.username else None

    def _fetch_token(self, parameters: Mapping[str, str], scopes: tuple[TokenScope, ...]) -> _Token:
        realm = parameters.get("realm", "")
        try:
            url = urlsplit(realm)
        except ValueError:
            url = urlsplit("")
        if url.scheme not in (("https", "http") if self._insecure else ("https",)):
            raise Unreachable(
                f"{self._host} requests a token of {realm or 'no server'}, where no credentials are sent to",
                hint="a token server has an https:// URL; --insecure allows http://",
            )
        # Besides our scopes, request those of the registry for other repositories.
        ours = {scope.repository for scope in scopes}
        theirs = [text for text in parameters.get("scope", "").split() if _scope_repository(text) not in ours]
        request = self._token_request(realm, parameters.get("service"), [*map(str, scopes), *theirs])
        response = self._send(request)
        if response.status != 200:
            name = scopes[0].repository if scopes else "this client"
            is_known = self._find_credential(scopes[0].repository if scopes else "") is not None
            raise response_error(response, url.netloc, name, "issue a token for", authenticated=is_known)
        try:
            document: Any = json.loads(response.read_body(_MAX_TOKEN_RESPONSE))
            token = document.get("token") or document["access_token"]
            # The header Authorization contains only printable ASCII.
            if not isinstance(token, str) or not token.isascii() or not token.isprintable():
                raise ValueError(token)
            lifetime = max(int(document.get("expires_in") or 0), _MIN_LIFETIME)
        except (ValueError, OverflowError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise Unreachable(
                f"the response of {url.netloc} contains no token for {self._host}",
                hint="check that it is the token server of that registry",
            ) from error
        return _Token(f"Bearer {token}", self._now() + lifetime - _EXPIRY_MARGIN)

    def _token_request(self, realm: str, service: str | None, scopes: list[str]) -> RegistryRequest:
        """Return a GET, anonymous or with a password, or a POST with an identity token."""
        credential = self._find_credential(_scope_repository(scopes[0]) if scopes else "")
        fields = [("service", service)] if service else []
        if credential is not None and credential.identity_token:
            form = [
                ("grant_type", "refresh_token"),
                *fields,
                ("client_id", f"everpath-{__version__}"),
                ("scope", " ".join(scopes)),
                ("refresh_token", credential.identity_token),
            ]
            content_type = {"Content-Type": "application/x-www-form-urlencoded"}
            return RegistryRequest("POST", realm, content_type, urlencode(form).encode())
        url = urlsplit(realm)
        query = "&".join(filter(None, (url.query, urlencode([*fields, *(("scope", s) for s in scopes)]))))
        headers = {"Authorization": _basic(credential)} if credential is not None else {}
        return RegistryRequest("GET", urlunsplit(url._replace(query=query)), headers)


def _basic(credential: Credential) -> str:
    return f"Basic {b64encode(f'{credential.username}:{credential.password}'.encode()).decode()}"


def _scope_repository(scope: str) -> str:
    """Return the repository of a scope `repository:NAME:ACTIONS`; the name may contain a port."""
    return scope.partition(":")[2].rpartition(":")[0]
