"""Options for registries, and progress of transfers."""

from __future__ import annotations

__all__ = ["TransferReporter", "registry_options", "transfer_options"]

import sys
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import click

from everpath.cli.options.groups import option_group
from everpath.cli.terminal import ProgressLine
from everpath.errors import UsageError
from everpath.reporters.formatting import printable

if TYPE_CHECKING:
    from everpath.oci.registry import RegistryOptions, TransferProgress

F = TypeVar("F", bound=Callable[..., Any])

_SHORT_DIGEST: Final = len("sha256:") + 12


def _parse_options(
    *, insecure: bool, cacert: str | None, authfile: str | None, username: str | None, password_stdin: bool
) -> RegistryOptions:
    """Return the options. Raises UsageError for a password without a user name or vice versa."""
    from everpath.oci.registry import RegistryOptions  # noqa: PLC0415 - imports HTTP and TLS
    from everpath.oci.registry.credentials import Credential  # noqa: PLC0415 - imports HTTP and TLS

    if (username is None) == password_stdin:
        hint = 'echo "$PASSWORD" | everpath … --username NAME --password-stdin'
        raise UsageError("--username and --password-stdin go together", hint=hint)
    credential = None
    if username is not None:
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("--password-stdin reads a pipe", hint="podman login prompts for a password")
        # `echo` adds the line end.
        password = sys.stdin.read(65536).removesuffix("\n").removesuffix("\r")
        credential = Credential(username, password)
    return RegistryOptions(insecure=insecure, cacert=cacert, authfile=authfile, credential=credential)


#: The command receives these options as `registry: RegistryOptions`.
registry_options: Final = option_group(
    "registry",
    _parse_options,
    click.option("--insecure", is_flag=True, help="Allow plain HTTP and untrusted certificates."),
    click.option("--cacert", metavar="FILE", help="Also trust the certificate authorities in this PEM file."),
    click.option(
        "--authfile",
        metavar="FILE",
        help="Credentials, as podman login writes them.  [default: those of podman and docker]",
    ),
    click.option("--username", metavar="NAME", help="The user, with --password-stdin."),
    click.option("--password-stdin", is_flag=True, help="Read the password from standard input."),
)


class TransferReporter:
    """Shows the transfer of blobs: as a progress line on a terminal, else as a line for each one."""

    def __init__(self, *, quiet: bool) -> None:
        self._progress_line = ProgressLine(sys.stderr, wanted=not quiet)
        self._prints_lines = not quiet and not (sys.stderr is not None and sys.stderr.isatty())

    def __call__(self, progress: TransferProgress) -> None:
        digest = progress.digest[:_SHORT_DIGEST]
        self._progress_line(progress.transferred, progress.size, f"bytes of {digest} {progress.state}")
        if self._prints_lines and progress.state not in ("sending", "receiving"):
            state = "already exists" if progress.state == "exists" else progress.state
            line = f"{progress.kind:<8} {digest} {state} ({progress.size:,} bytes)"
            click.echo(printable(line), err=True)

    def __enter__(self) -> Self:
        self._progress_line.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress_line.__exit__(kind, error, trace)


def transfer_options(command: F) -> F:
    """Add `--print-digest` and `--quiet`."""
    digest = click.option("--print-digest", is_flag=True, help="Print only the digest of the image.")
    quiet = click.option("-q", "--quiet", is_flag=True, help="Do not show the transfer of blobs.")
    return digest(quiet(command))
