"""Errors of commands: an exit code, a message and a hint how to fix it."""

from __future__ import annotations

__all__ = [
    "ApiServerUnreachable",
    "CommandError",
    "Interrupted",
    "NoClusterConfigured",
    "ReadWriteError",
    "no_cluster_error",
    "request_error",
    "show_error",
]

from typing import IO, Any

import click

from searchkeeper.kubernetes.api import ApiError, Conflict, Forbidden, NoSuchKind, Unauthorized, Unavailable


class CommandError(click.ClickException):
    """An error that the user can fix."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        """Print message and hint. Further lines are indented below the first."""
        for heading, text in (("error", self.message), ("hint", self.hint)):
            for number, line in enumerate((text or "").splitlines()):
                prefix = f"{heading}: " if number == 0 else " " * (len(heading) + 2)
                click.echo(f"{prefix}{line}", err=True)


class NoClusterConfigured(CommandError):
    """There is no usable kubeconfig."""

    exit_code = 2


class ReadWriteError(CommandError):
    """Input could not be read, or the API server or the engine rejected a request."""

    exit_code = 3


class ApiServerUnreachable(CommandError):
    """The API server does not answer, or answers with an error that passes by itself."""

    exit_code = 4


class Interrupted(CommandError):
    """A signal ended the command. The exit code is 128 + SIGINT, as shells report it."""

    exit_code = 130


def show_error(error: click.ClickException) -> int:
    """Print an error in our own format, also one of click's, and return the exit code."""
    # click 8.2 raises NoArgsIsHelpError; older versions print the help without an error.
    if isinstance(error, (CommandError, getattr(click.exceptions, "NoArgsIsHelpError", CommandError))):
        error.show()
        return error.exit_code
    if similar := getattr(error, "possibilities", None):
        # The text in which click suggests options changes between its releases; this list does not.
        message, suggestion = error.message, " or ".join(map(repr, similar))
    else:
        message, _, suggestion = error.format_message().partition(" Did you mean ")
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    command = ctx.command_path if ctx is not None else "searchkeeper"
    hint = f"did you mean {suggestion.removesuffix('?')}?" if suggestion else f"see `{command} --help`"
    CommandError(f"{message[:1].lower()}{message[1:].removesuffix('.')}", hint).show()
    return error.exit_code


def no_cluster_error(error: Exception) -> NoClusterConfigured:
    """The error for a kubeconfig that cannot be loaded."""
    return NoClusterConfigured(
        f"no cluster is configured: {' '.join(str(error).split())}",
        "set --kubeconfig or KUBECONFIG to a file that `kubectl config view` can read, or use --embedded",
    )


def request_error(error: ApiError, prefix: str = "") -> CommandError:
    """The error for a failed request to the API server, with `prefix` before its message."""
    hint = None
    match error:
        case Unavailable():
            message = f"the API server does not answer: {error}"
            hint = "check the server of your kubeconfig with `kubectl cluster-info`"
        case NoSuchKind():
            message = f"the API server has no kind {error.kind}: the CRDs of searchkeeper are not installed"
            hint = (
                "install them with `kubectl apply -k operator/config/crd`, or install the operator with OLM"
            )
        case Unauthorized():
            message = f"the API server does not accept these credentials: {error}"
            hint = "renew the credentials of your kubeconfig"
        case Forbidden():
            message = f"permission denied: {error}"
            hint = "`kubectl auth can-i` shows what your account may do"
        case Conflict():
            message = f"another client changed the same object at the same time; try again: {error}"
        case _:
            message = str(error)
    kind = ApiServerUnreachable if isinstance(error, Unavailable) else ReadWriteError
    return kind(prefix + message, hint)
