"""What a command ends with when it cannot do what it was asked: an exit code, a sentence and a remedy."""

from __future__ import annotations

__all__ = ["Failed", "Interrupted", "NoAnswer", "NoCluster", "Unreadable", "no_cluster", "of_kube", "shown"]

from typing import IO, Any

import click

from searchkeeper.kubernetes.api import ApiError, Conflict, Forbidden, NoSuchKind, Unauthorized, Unavailable


class Failed(click.ClickException):
    """Something that people can do something about: what it is, and what."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's signature
        """Every line of either under its first one."""
        for heading, text in (("error", self.message), ("hint", self.hint)):
            for number, line in enumerate((text or "").splitlines()):
                start = f"{heading}: " if number == 0 else " " * (len(heading) + 2)
                click.echo(f"{start}{line}", err=True)


class NoCluster(Failed):
    """Nobody has said where a cluster is."""

    exit_code = 2


class Unreadable(Failed):
    """What was to be read or written could not be."""

    exit_code = 3


class NoAnswer(Failed):
    """The API server does not answer."""

    exit_code = 4


class Interrupted(Failed):
    """Somebody wanted it to end; as shells count who was ended by SIGINT."""

    exit_code = 130


def shown(error: click.ClickException) -> int:
    """What click finds wrong with a command line, as everything else is said. The exit code."""
    # Before click 8.2 there was no such error: help was shown without one.
    if isinstance(error, (Failed, getattr(click.exceptions, "NoArgsIsHelpError", Failed))):
        error.show()
        return error.exit_code
    message, meant = _and_meant(error)
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    command = ctx.command_path if ctx is not None else "searchkeeper"
    hint = f"did you mean {meant}?" if meant else f"`{command} --help` shows what it takes"
    Failed(f"{message[:1].lower()}{message[1:].removesuffix('.')}", hint).show()
    return error.exit_code


def _and_meant(error: click.ClickException) -> tuple[str, str]:
    """The complaint, and what was meant instead: a few words in quotes, the likeliest first, or nothing.

    What click says of several options has changed from release to release; that it lists them has not.
    """
    if near := getattr(error, "possibilities", None):
        return error.message, " or ".join(repr(word) for word in near)
    message, _, meant = error.format_message().partition(" Did you mean ")
    return message, meant.removesuffix("?")


def no_cluster(error: Exception) -> NoCluster:
    """Of what reading a kubeconfig has ended with."""
    return NoCluster(
        f"no cluster is configured: {' '.join(str(error).split())}",
        "--kubeconfig FILE, or KUBECONFIG, names a file that `kubectl config view` can read; "
        "--embedded needs none",
    )


def of_kube(error: ApiError, about: str = "") -> Failed:
    """Whoever was turned away was answered: only silence, and what passes by itself, counts as no answer."""
    kind = NoAnswer if isinstance(error, Unavailable) else Unreadable
    message, hint = _told(error)
    return kind(about + message, hint)


def _told(error: ApiError) -> tuple[str, str | None]:
    match error:
        case Unavailable():
            return (
                f"the API server does not answer: {error}",
                "is it running, and is it the right one? `kubectl cluster-info` asks the same",
            )
        case NoSuchKind():
            return (
                f"this API server knows no {error.kind}: the definitions of searchkeeper are not installed",
                "kubectl apply -k operator/config/crd installs them, and so does OLM",
            )
        case Unauthorized():
            return f"the API server does not accept these credentials, or no longer: {error}", None
        case Forbidden():
            return f"the account that was used may not do this: {error}", None
        case Conflict():
            return f"somebody else changes the same object at the same time; try again: {error}", None
        case _:
            return str(error), None
