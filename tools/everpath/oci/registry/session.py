"""A conversation with one registry: authenticated, patient, and careful where it is sent on to."""

from __future__ import annotations

__all__ = ["Session"]

from collections.abc import Mapping
from typing import BinaryIO, Final
from urllib.parse import quote, urljoin, urlsplit

from everpath import __version__
from everpath.errors import Unreachable, UnreadableInput
from everpath.oci.references import Reference
from everpath.oci.registry.auth import Authority, Scope
from everpath.oci.registry.challenges import parse_challenges
from everpath.oci.registry.credentials import Credential, find_credential
from everpath.oci.registry.errors import refused, unreachable
from everpath.oci.registry.http_client import Connections
from everpath.oci.registry.options import Options
from everpath.oci.registry.retries import asked_to_wait, is_passing
from everpath.oci.registry.transport import Absent, Answer, Broken, Lasting, NotTls, Request

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MOST_REDIRECTS: Final = 5
_HUB: Final = {"docker.io": "registry-1.docker.io"}
# What an address is written with; all else, as raw bytes in a Location header, is escaped.
_WRITTEN: Final = "!#$%&'()*+,/:;=?@[]~"


class Session:
    """Requests about one repository of one registry."""

    def __init__(self, reference: Reference, options: Options) -> None:
        self.reference = reference
        self.host = reference.registry
        self.options = options
        self._api = _HUB.get(self.host, self.host)
        self._is_trusted = options.trusts(self.host)
        self._wire = options.wire or Connections(
            verify=not self._is_trusted, cacert=options.cacert, timeout=options.timeout
        )
        self._authority = Authority(
            self.host, self._credential, self._patiently, options.patience.now, insecure=self._is_trusted
        )
        self._credentials: dict[str, Credential | None] = {}
        self._base: str | None = None
        self._was_met = False

    def path(self, *steps: str) -> str:
        """The address of something of the repository's."""
        return f"{self.base}/v2/{self.reference.repository}/{'/'.join(steps)}"

    @property
    def base(self) -> str:
        """The registry's origin. In the open only where that was allowed and TLS is not spoken.

        Raises Unreachable where it has to be asked which it is, and never answers.
        """
        if self._base is None:
            scheme = self._spoken() if self._is_trusted else "https"
            self._base = f"{scheme}://{self._api}"
        return self._base

    def ask(  # noqa: PLR0913 - a request has these parts
        self,
        method: str,
        url: str,
        what: str,
        *,
        hopes: frozenset[int],
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        scopes: tuple[Scope, ...] = (),
    ) -> Answer:
        """The answer, with one of the statuses hoped for. Raises Unreachable.

        Whatever passes (a dropped connection, 429, 5xx) is tried again.
        """
        scopes = scopes or (Scope(self.reference.repository),)
        request = Request(method, url, {**self._always(body), **(headers or {})}, body)
        return self.judged(self._patiently(request, scopes), what, hopes, scopes)

    def fetch(self, url: str, what: str, headers: Mapping[str, str], at_most: int) -> tuple[Answer, bytes]:
        """A small thing and its whole body, asked for again where it ends early.

        Raises Unreachable, and UnreadableInput for one that is not small.
        """
        pauses = self.options.patience.pauses()
        while True:
            answer = self.ask("GET", url, what, hopes=frozenset({200}), headers=headers)
            try:
                data = answer.text(at_most + 1)
            except Broken as error:
                pause = next(pauses, None)
                if pause is None:
                    raise self.unreached(error) from error
                self.options.patience.sleep(pause)
                continue
            if len(data) > at_most:
                raise UnreadableInput(f"{self.host} gives a manifest of more than {at_most >> 20} MiB")
            return answer, data

    def ask_once(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | BinaryIO,
        scopes: tuple[Scope, ...],
    ) -> Answer:
        """The answer of one attempt, whatever it is. Raises Broken: what comes of it is the caller's."""
        return self._authorized(Request(method, url, {**self._always(None), **headers}, body), scopes)

    def judged(
        self, answer: Answer, what: str, hopes: frozenset[int], scopes: tuple[Scope, ...] = ()
    ) -> Answer:
        """The answer if it is hoped for. Raises Unreachable."""
        if answer.status in hopes:
            return answer
        is_known = self._authority.header(scopes) is not None
        raise refused(answer, self.host, self.reference.repository, what, authenticated=is_known)

    def may_pass(self, error: Broken) -> bool:
        """Whether a broken connection is worth another attempt."""
        return not isinstance(error, Lasting) and (self._was_met or not isinstance(error, Absent))

    def unreached(self, error: Broken, host: str | None = None) -> Unreachable:
        """The error for a host that gave no answer, with advice that was not followed yet."""
        return unreachable(host or self.host, error, trusted=self._is_trusted)

    def _spoken(self) -> str:
        """`https` or `http`, whichever is answered. Dropped connections prove neither, and are made again."""
        pauses = self.options.patience.pauses()
        while isinstance(found := self._answering(), Broken):
            pause = next(pauses, None)
            if pause is None:
                raise self.unreached(found) from found
            self.options.patience.sleep(pause)
        return found

    def _answering(self) -> str | Broken:
        try:
            self._greet("https")
        except (NotTls, Absent):
            return "http"
        except Broken as error:
            # A server of plain HTTP may also hang up on what it takes for noise.
            return "http" if self._speaks_openly() else error
        return "https"

    def _speaks_openly(self) -> bool:
        try:
            self._greet("http")
        except Broken:
            return False
        return True

    def _greet(self, scheme: str) -> None:
        self._wire.send(Request("GET", f"{scheme}://{self._api}/v2/", self._always(None))).text()

    def _patiently(self, request: Request, scopes: tuple[Scope, ...] | None = None) -> Answer:
        pauses = self.options.patience.pauses()
        while True:
            pause = next(pauses, None)
            try:
                answer = self._sent(request)[0] if scopes is None else self._authorized(request, scopes)
            except Broken as error:
                if pause is None or not self.may_pass(error):
                    raise self.unreached(error, urlsplit(request.url).netloc) from error
            else:
                pause = self._pause_after(answer, pause)
                if pause is None:
                    return answer
            self.options.patience.sleep(pause)

    def _pause_after(self, answer: Answer, pause: float | None) -> float | None:
        """How long to wait before the next attempt; None to take this answer for the last."""
        if pause is None or not is_passing(answer.status):
            return None
        asked = asked_to_wait(answer.headers, self.options.patience.now())
        if asked is not None and asked > self.options.patience.longest:
            return None
        answer.body.close()
        return pause if asked is None else asked

    def _authorized(self, request: Request, scopes: tuple[Scope, ...]) -> Answer:
        """With what we know; and once more with what a 401 of the registry's own asks for.

        A stream cannot be sent twice: who sends one has sent other requests before, and is known.
        """
        known = self._authority.header(scopes) if self.is_home(request.url) else None
        answer, url = self._sent(_with(request, known))
        if answer.status != 401 or not self.is_home(url) or hasattr(request.body, "read"):
            return answer
        challenges = parse_challenges(answer.headers.get("www-authenticate", ""))
        header = self._authority.answer(challenges, scopes)
        if header is None or header == known:
            return answer
        answer.body.close()
        return self._sent(_with(request, header))[0]

    def _sent(self, request: Request) -> tuple[Answer, str]:
        """The answer after every redirect, and whose it is. Credentials stay with the origin they are for."""
        first = _origin(request.url)
        for _ in range(_MOST_REDIRECTS + 1):
            answer = self._wire.send(request)
            self._was_met = True
            where = answer.headers.get("location")
            if answer.status not in _REDIRECTS or not where:
                return answer, request.url
            answer.body.close()
            request = self._sent_on(request, first, self.joined(request.url, where))
        raise Unreachable(
            f"{self.host} sends us on and on, last to {_origin(request.url)}",
            hint="is there a proxy between that redirects to itself?",
        )

    def _sent_on(self, request: Request, first: str, url: str) -> Request:
        headers = request.headers
        if _origin(url) != first:
            if request.method == "POST" and request.body:
                # An identity token: uploads are started without a body.
                raise Unreachable(
                    f"{first} sends us on to {_origin(url)}, and secrets do not go there",
                    hint="is there something between that redirects requests for tokens?",
                )
            headers = {name: value for name, value in headers.items() if name != "Authorization"}
        return Request(request.method, url, headers, request.body)

    def joined(self, url: str, where: str) -> str:
        """Where the registry sends us on to from an address.

        Raises Unreachable for what is no address, and for one that gives up TLS where it was wanted.
        """
        try:
            found = urljoin(url, quote(where, safe=_WRITTEN, encoding="latin-1", errors="replace"))
            self._require_safe(found)
        except ValueError as error:
            raise Unreachable(
                f"{self.host} sends us on to {where[:200]!r}, which is no address of a registry",
                hint="is it a registry that speaks the OCI distribution API (/v2/)?",
            ) from error
        return found

    def _require_safe(self, url: str) -> None:
        scheme = urlsplit(url).scheme
        if scheme == "https" or (scheme == "http" and self._is_trusted):
            return
        if scheme != "http":
            raise ValueError(scheme)
        raise Unreachable(
            f"{self.host} sends us on to {_origin(url)}, which is not encrypted",
            hint=f"a registry behind a proxy must know its https:// address; --insecure trusts {self.host}",
        )

    def is_home(self, url: str) -> bool:
        """Whether an address is the registry's own, where credentials may go."""
        return _origin(url) == _origin(self.base)

    def _credential(self, repository: str) -> Credential | None:
        options = self.options
        if options.credential is not None:
            return options.credential
        if repository not in self._credentials:
            name = f"{self.host}/{repository}".rstrip("/")
            self._credentials[repository] = find_credential(
                name, options.environment, options.helper, chosen=options.authfile
            )
        return self._credentials[repository]

    def _always(self, body: bytes | None) -> dict[str, str]:
        length = {} if body is None else {"Content-Length": str(len(body))}
        return {"User-Agent": f"everpath/{__version__}", "Accept-Encoding": "identity", **length}


def _with(request: Request, header: str | None) -> Request:
    if header is None:
        return request
    return Request(request.method, request.url, {**request.headers, "Authorization": header}, request.body)


def _origin(url: str) -> str:
    """Scheme, host and port; the usual port may be written or not."""
    parts = urlsplit(url)
    usual = {"https": ":443", "http": ":80"}.get(parts.scheme, ":")
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(usual)}"
