"""Proving who we are: basic authentication, and tokens fetched from where a registry says."""

from __future__ import annotations

__all__ = ["Authority", "Scope"]

import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode, urlsplit, urlunsplit

from everpath import __version__
from everpath.errors import Unreachable
from everpath.oci.registry.challenges import Challenge
from everpath.oci.registry.credentials import Credential
from everpath.oci.registry.errors import refused
from everpath.oci.registry.transport import Answer, Request

# What the token specification says of a token without a term; and what is lost on the way.
_SHORTEST_LIFE: Final = 60
_MARGIN: Final = 10
_LONGEST_ANSWER: Final = 1 << 20


class Scope(NamedTuple):
    """What is to be allowed: these actions on a repository."""

    repository: str
    actions: str = "pull"

    def __str__(self) -> str:
        return f"repository:{self.repository}:{self.actions}"


class _Token(NamedTuple):
    header: str
    until: float


class Authority:
    """The Authorization headers of one registry, by what they allow."""

    def __init__(
        self,
        host: str,
        credential: Callable[[str], Credential | None],
        send: Callable[[Request], Answer],
        now: Callable[[], float],
        *,
        insecure: bool,
    ) -> None:
        self._host = host
        self._credential = credential
        self._send = send
        self._now = now
        self._insecure = insecure
        self._tokens: dict[tuple[Scope, ...], _Token] = {}
        self._is_basic = False

    def header(self, scopes: tuple[Scope, ...]) -> str | None:
        """What to send unasked: what was good before, and is still."""
        if self._is_basic:
            return self._basic(scopes)
        token = self._tokens.get(scopes)
        return token.header if token is not None and self._now() < token.until else None

    def answer(self, challenges: Iterable[Challenge], scopes: tuple[Scope, ...]) -> str | None:
        """The header for a registry that asks, None if we have nothing to say. Raises Unreachable."""
        by_scheme = {challenge.scheme: challenge for challenge in challenges}
        if "bearer" in by_scheme:
            token = self._token(by_scheme["bearer"].parameters, scopes)
            self._tokens[scopes] = token
            return token.header
        if "basic" in by_scheme:
            header = self._basic(scopes)
            self._is_basic = header is not None
            return header
        return None

    def _basic(self, scopes: tuple[Scope, ...]) -> str | None:
        known = self._known(scopes)
        if known is None or not known.username:
            return None
        return f"Basic {b64encode(f'{known.username}:{known.password}'.encode()).decode()}"

    def _known(self, scopes: tuple[Scope, ...]) -> Credential | None:
        return self._credential(scopes[0].repository if scopes else "")

    def _token(self, parameters: Mapping[str, str], scopes: tuple[Scope, ...]) -> _Token:
        realm = parameters.get("realm", "")
        kinds = ("https", "http") if self._insecure else ("https",)
        if _scheme(realm) not in kinds:
            raise Unreachable(
                f"{self._host} sends us to {realm or 'nowhere'} for a token, and secrets do not go there",
                hint="a token server has an https:// address; --insecure allows http://",
            )
        answer = self._send(self._asking(realm, parameters.get("service"), _wanted(parameters, scopes)))
        if answer.status != 200:
            name = scopes[0].repository if scopes else "us"
            is_known = self._known(scopes) is not None
            where = urlsplit(realm).netloc
            raise refused(answer, where, name, "give a token for", authenticated=is_known)
        return self._read(answer, realm)

    def _asking(self, realm: str, service: str | None, scopes: Iterable[str]) -> Request:
        """A GET as anybody or with a password, a POST with an identity token, as the specification has it."""
        known = self._credential(self._repository(scopes))
        fields = [("service", service)] if service else []
        if known is not None and known.identity_token:
            form = [
                ("grant_type", "refresh_token"),
                *fields,
                ("client_id", f"everpath-{__version__}"),
                ("scope", " ".join(scopes)),
                ("refresh_token", known.identity_token),
            ]
            kind = {"Content-Type": "application/x-www-form-urlencoded"}
            return Request("POST", realm, kind, urlencode(form).encode())
        url = urlsplit(realm)
        query = "&".join(filter(None, (url.query, urlencode([*fields, *(("scope", s) for s in scopes)]))))
        headers: dict[str, str] = {}
        if known is not None:
            pair = f"{known.username}:{known.password}".encode()
            headers["Authorization"] = f"Basic {b64encode(pair).decode()}"
        return Request("GET", urlunsplit(url._replace(query=query)), headers)

    @staticmethod
    def _repository(scopes: Iterable[str]) -> str:
        first = next(iter(scopes), "")
        return first.partition(":")[2].rpartition(":")[0]

    def _read(self, answer: Answer, realm: str) -> _Token:
        try:
            document: Any = json.loads(answer.text(_LONGEST_ANSWER))
            token = _plain(document.get("token") or document["access_token"])
            life = max(int(document.get("expires_in") or 0), _SHORTEST_LIFE)
        except (ValueError, OverflowError, LookupError, TypeError, AttributeError, RecursionError) as error:
            where = urlsplit(realm).netloc
            hint = "is it the token server of that registry?"
            raise Unreachable(f"{where} answers without a token for {self._host}", hint=hint) from error
        return _Token(f"Bearer {token}", self._now() + life - _MARGIN)


def _scheme(url: str) -> str:
    try:
        return urlsplit(url).scheme
    except ValueError:
        return ""


def _plain(token: object) -> str:
    """A token that a header can carry. Raises ValueError."""
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise ValueError(token)
    return token


def _wanted(parameters: Mapping[str, str], scopes: tuple[Scope, ...]) -> list[str]:
    """Our scopes, and what the registry asks for if that is about something else."""
    ours = list(map(str, scopes))
    about = {scope.repository for scope in scopes}
    theirs = parameters.get("scope", "").split()
    return ours + [scope for scope in theirs if scope.partition(":")[2].rpartition(":")[0] not in about]
