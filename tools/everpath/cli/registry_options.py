"""Options about registries, and what is told while something is sent or fetched."""

from __future__ import annotations

__all__ = ["RegistryOptions", "TransferReporter", "registry_options", "transfer_options"]

import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, TypeVar

import click

from everpath.cli.terminal import ProgressLine
from everpath.errors import UsageError
from everpath.reporters.formatting import printable

if TYPE_CHECKING:
    from everpath.oci.registry import ClientOptions, TransferProgress

F = TypeVar("F", bound=Callable[..., Any])

_SHOWN: Final = len("sha256:") + 12


class RegistryOptions(NamedTuple):
    """The options of `registry_options`."""

    insecure: bool
    cacert: str | None
    authfile: str | None
    username: str | None
    password_stdin: bool

    @classmethod
    def from_parameters(cls, options: Mapping[str, Any]) -> RegistryOptions:
        return cls(*(options[name] for name in cls._fields))

    def client_options(self, *, mount_from: tuple[str, ...] = ()) -> ClientOptions:
        """Return the client options. Raises UsageError for a password without a user name or vice versa."""
        from everpath.oci.registry import ClientOptions  # noqa: PLC0415 - brings HTTP and TLS along
        from everpath.oci.registry.credentials import Credential  # noqa: PLC0415

        if (self.username is None) == self.password_stdin:
            hint = 'echo "$PASSWORD" | everpath … --username NAME --password-stdin'
            raise UsageError("--username and --password-stdin go together", hint=hint)
        credential = Credential(self.username, _password()) if self.username is not None else None
        return ClientOptions(
            insecure=self.insecure,
            cacert=self.cacert,
            authfile=self.authfile,
            credential=credential,
            mount_from=mount_from,
        )


def _password() -> str:
    """All of standard input but the line end that `echo` adds."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("--password-stdin reads a pipe", hint="for a password at a prompt: podman login")
    return sys.stdin.read(65536).removesuffix("\n").removesuffix("\r")


def registry_options(command: F) -> F:
    """`--insecure`, `--cacert`, `--authfile`, `--username` and `--password-stdin`."""
    insecure = click.option(
        "--insecure", is_flag=True, help="Allow plain HTTP, and certificates that nobody vouches for."
    )
    cacert = click.option("--cacert", metavar="FILE", help="Trust the authorities in this file of PEM too.")
    authfile = click.option(
        "--authfile",
        metavar="FILE",
        help="Credentials, as podman login writes them.  [default: those of podman and docker]",
    )
    username = click.option("--username", metavar="NAME", help="The user, with --password-stdin.")
    password = click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
    return insecure(cacert(authfile(username(password(command)))))


class TransferReporter:
    """Hears of every blob: a line that moves on a terminal, else one line for each that is done."""

    def __init__(self, *, quiet: bool) -> None:
        self._line = ProgressLine(sys.stderr, wanted=not quiet)
        self._lines = not quiet and not (sys.stderr is not None and sys.stderr.isatty())

    def __call__(self, step: TransferProgress) -> None:
        self._line(step.transferred, step.size, f"bytes of {step.digest[:_SHOWN]} {step.state}")
        if self._lines and step.state not in ("sending", "receiving"):
            said = {"exists": "already exists"}.get(step.state, step.state)
            text = f"{step.kind:<8} {step.digest[:_SHOWN]} {said} ({step.size:,} bytes)"
            click.echo(printable(text), err=True)

    def __enter__(self) -> Self:
        self._line.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.__exit__(kind, error, trace)


def transfer_options(command: F) -> F:
    """`--print-digest` and `--quiet`."""
    digest = click.option("--print-digest", is_flag=True, help="Print the digest of the image, and no more.")
    quiet = click.option("-q", "--quiet", is_flag=True, help="Tell nothing of blobs on standard error.")
    return digest(quiet(command))
