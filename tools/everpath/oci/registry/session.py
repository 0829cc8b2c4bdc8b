"""Requests to one repository of a registry: authentication, retries and redirects."""

from __future__ import annotations

__all__ = ["Session"]

from collections.abc import Mapping
from typing import BinaryIO, Final
from urllib.parse import quote, urljoin, urlsplit

from everpath import __version__
from everpath.errors import Unreachable, UnreadableInput
from everpath.oci.references import Reference
from everpath.oci.registry.auth import Authenticator, TokenScope, parse_challenges
from everpath.oci.registry.credentials import Credential, find_credential
from everpath.oci.registry.errors import NOT_A_REGISTRY_HINT, connection_error, response_error
from everpath.oci.registry.http_client import (
    ConnectionFailed,
    ConnectionPool,
    HostUnavailable,
    PermanentFailure,
    RegistryRequest,
    RegistryResponse,
    TlsNotSupported,
    is_retryable,
    retry_after,
)
from everpath.oci.registry.options import RegistryOptions

_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_MAX_REDIRECTS: Final = 5
_API_HOSTS: Final = {"docker.io": "registry-1.docker.io"}
# Other characters of a Location header, such as raw bytes, are percent-encoded.
_URL_CHARACTERS: Final = "!#$%&'()*+,/:;=?@[]~"


class Session:
    """Sends requests about one repository."""

    def __init__(self, reference: Reference, options: RegistryOptions) -> None:
        self.reference = reference
        self.host = reference.registry
        self.options = options
        self._api_host = _API_HOSTS.get(self.host, self.host)
        self._insecure = options.allows_insecure(self.host)
        self._http = options.http_client or ConnectionPool(
            verify=not self._insecure, cacert=options.cacert, timeout=options.timeout
        )
        self._authenticator = Authenticator(
            self.host,
            self._find_credential,
            self._send_with_retries,
            options.retry.now,
            insecure=self._insecure,
        )
        self._credentials: dict[str, Credential | None] = {}
        self._base_url: str | None = None
        self._has_responded = False

    @property
    def base_url(self) -> str:
        """Scheme and host of the API. Plain HTTP is used only if it is allowed and TLS is not supported.

        Raises Unreachable if the registry has to be asked for its scheme and does not respond.
        """
        if self._base_url is None:
            scheme = self._detect_scheme() if self._insecure else "https"
            self._base_url = f"{scheme}://{self._api_host}"
        return self._base_url

    def url(self, *parts: str) -> str:
        """Return the URL of a resource of the repository."""
        return f"{self.base_url}/v2/{self.reference.repository}/{'/'.join(parts)}"

    def request(  # noqa: PLR0913 - a request has these parts
        self,
        method: str,
        url: str,
        action: str,
        *,
        expected: frozenset[int],
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        scopes: tuple[TokenScope, ...] = (),
    ) -> RegistryResponse:
        """Send a request, with retries after dropped connections, 429 and 5xx.

        Raises Unreachable unless the status is one of the expected ones. `action` is for its message.
        """
        scopes = scopes or (TokenScope(self.reference.repository),)
        length = {} if body is None else {"Content-Length": str(len(body))}
        request = RegistryRequest(method, url, {**_default_headers(), **length, **(headers or {})}, body)
        response = self._send_with_retries(request, scopes)
        if response.status in expected:
            return response
        is_known = self._authenticator.cached_header(scopes) is not None
        raise response_error(response, self.host, self.reference.repository, action, authenticated=is_known)

    def get_document(
        self, url: str, action: str, headers: Mapping[str, str], max_size: int
    ) -> tuple[RegistryResponse, bytes]:
        """Get a manifest with its body, with retries also if the body is truncated.

        Raises Unreachable, and UnreadableInput if the body is too large.
        """
        delays = self.options.retry.delays()
        while True:
            response = self.request("GET", url, action, expected=frozenset({200}), headers=headers)
            try:
                data = response.read_body(max_size + 1)
            except ConnectionFailed as error:
                delay = next(delays, None)
                if delay is None:
                    raise self.connection_error(error) from error
                self.options.retry.sleep(delay)
                continue
            if len(data) > max_size:
                raise UnreadableInput(f"{self.host} returns a manifest of more than {max_size >> 20} MiB")
            return response, data

    def request_once(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | BinaryIO,
        scopes: tuple[TokenScope, ...],
    ) -> RegistryResponse:
        """Send a request once and return any response. Raises ConnectionFailed."""
        request = RegistryRequest(method, url, {**_default_headers(), **headers}, body)
        return self._send_authorized(request, scopes)

    def can_retry(self, error: ConnectionFailed) -> bool:
        """True if another attempt may succeed."""
        if isinstance(error, HostUnavailable):
            return self._has_responded
        return not isinstance(error, PermanentFailure)

    def connection_error(self, error: ConnectionFailed, host: str | None = None) -> Unreachable:
        """Return the error for a host that did not respond."""
        return connection_error(host or self.host, error, insecure=self._insecure)

    def resolve_location(self, url: str, location: str) -> str:
        """Return the URL of a Location header in the response to `url`.

        Raises Unreachable for an invalid URL, and for plain HTTP where TLS is required.
        """
        try:
            target = urljoin(url, quote(location, safe=_URL_CHARACTERS, encoding="latin-1", errors="replace"))
            scheme = urlsplit(target).scheme
            origin = _origin(target)
        except ValueError as error:
            raise self._invalid_location(location) from error
        if scheme not in ("http", "https"):
            raise self._invalid_location(location)
        if scheme == "http" and not self._insecure:
            raise Unreachable(
                f"{self.host} redirects to {origin}, which is not encrypted",
                hint=f"configure the https:// address of the registry there; --insecure trusts {self.host}",
            )
        return target

    def _invalid_location(self, location: str) -> Unreachable:
        return Unreachable(
            f"{self.host} redirects to {location[:200]!r}, which is not a valid URL",
            hint=NOT_A_REGISTRY_HINT,
        )

    def _detect_scheme(self) -> str:
        """Return `https` or `http`, whichever the registry responds to. Dropped connections are retried."""
        delays = self.options.retry.delays()
        while True:
            try:
                self._probe("https")
            except (TlsNotSupported, HostUnavailable):
                return "http"
            except ConnectionFailed as error:
                # A server of plain HTTP may close the connection at a TLS handshake.
                try:
                    self._probe("http")
                except ConnectionFailed:
                    delay = next(delays, None)
                    if delay is None:
                        raise self.connection_error(error) from error
                    self.options.retry.sleep(delay)
                else:
                    return "http"
            else:
                return "https"

    def _probe(self, scheme: str) -> None:
        self._http.send(
            RegistryRequest("GET", f"{scheme}://{self._api_host}/v2/", _default_headers())
        ).read_body()

    def _send_with_retries(
        self, request: RegistryRequest, scopes: tuple[TokenScope, ...] | None = None
    ) -> RegistryResponse:
        """Send a request, without authorization if `scopes` is None. Raises Unreachable."""
        retry = self.options.retry
        delays = retry.delays()
        while True:
            delay = next(delays, None)
            try:
                if scopes is None:
                    response, _ = self._follow_redirects(request)
                else:
                    response = self._send_authorized(request, scopes)
            except ConnectionFailed as error:
                if delay is None or not self.can_retry(error):
                    raise self.connection_error(error, urlsplit(request.url).netloc) from error
            else:
                if delay is None or not is_retryable(response.status):
                    return response
                requested = retry_after(response.headers, retry.now())
                if requested is not None and requested > retry.max_delay:
                    return response
                response.body.close()
                delay = delay if requested is None else requested
            retry.sleep(delay)

    def _send_authorized(self, request: RegistryRequest, scopes: tuple[TokenScope, ...]) -> RegistryResponse:
        """Send a request with the cached header, and again if the registry itself responds with a challenge.

        A stream cannot be sent twice; requests before it have authenticated the session.
        """
        cached = self._authenticator.cached_header(scopes) if self._is_registry_url(request.url) else None
        response, url = self._follow_redirects(_with_authorization(request, cached))
        if response.status != 401 or not self._is_registry_url(url) or hasattr(request.body, "read"):
            return response
        challenges = parse_challenges(response.headers.get("www-authenticate", ""))
        header = self._authenticator.answer_challenges(challenges, scopes)
        if header is None or header == cached:
            return response
        response.body.close()
        return self._follow_redirects(_with_authorization(request, header))[0]

    def _follow_redirects(self, request: RegistryRequest) -> tuple[RegistryResponse, str]:
        """Return the last response and its URL. Credentials are not sent to other origins."""
        first_origin = _origin(request.url)
        for _ in range(_MAX_REDIRECTS + 1):
            response = self._http.send(request)
            self._has_responded = True
            location = response.headers.get("location")
            if response.status not in _REDIRECTS or not location:
                return response, request.url
            response.body.close()
            url = self.resolve_location(request.url, location)
            headers = request.headers
            if _origin(url) != first_origin:
                if request.method == "POST" and request.body:
                    # Only the request for a token with an identity token has a body.
                    raise Unreachable(
                        f"{first_origin} redirects to {_origin(url)}, where no credentials are sent to",
                        hint="check for a proxy that redirects requests for tokens",
                    )
                headers = {name: value for name, value in headers.items() if name != "Authorization"}
            request = RegistryRequest(request.method, url, headers, request.body)
        raise Unreachable(
            f"{self.host} redirects too often, at last to {_origin(request.url)}",
            hint="check for a proxy that redirects to itself",
        )

    def _is_registry_url(self, url: str) -> bool:
        return _origin(url) == _origin(self.base_url)

    def _find_credential(self, repository: str) -> Credential | None:
        options = self.options
        if options.credential is not None:
            return options.credential
        if repository not in self._credentials:
            name = f"{self.host}/{repository}".rstrip("/")
            self._credentials[repository] = find_credential(
                name, options.environment, options.credential_helper, authfile=options.authfile
            )
        return self._credentials[repository]


def _default_headers() -> dict[str, str]:
    return {"User-Agent": f"everpath/{__version__}", "Accept-Encoding": "identity"}


def _with_authorization(request: RegistryRequest, header: str | None) -> RegistryRequest:
    if header is None:
        return request
    return RegistryRequest(
        request.method, request.url, {**request.headers, "Authorization": header}, request.body
    )


def _origin(url: str) -> str:
    """Return scheme, host and port, without the default port."""
    parts = urlsplit(url)
    default_port = {"https": ":443", "http": ":80"}.get(parts.scheme, ":")
    return f"{parts.scheme}://{parts.netloc.lower().removesuffix(default_port)}"
