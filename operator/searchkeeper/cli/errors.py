"""What a command ends with when an API server does not do what it was asked: an exit code and a remedy."""

from __future__ import annotations

__all__ = ["Interrupted", "NoAnswer", "Unreadable", "of_kube"]

import click

from searchkeeper.kube import Conflict, Forbidden, KubeError, Nobody, NoSuchKind, Unavailable


class Unreadable(click.ClickException):
    """What was to be read or written could not be."""

    exit_code = 3


class NoAnswer(click.ClickException):
    """The API server does not answer."""

    exit_code = 4


class Interrupted(click.ClickException):
    """Somebody wanted it to end; as shells count who was ended by SIGINT."""

    exit_code = 130


def of_kube(error: KubeError, about: str = "") -> click.ClickException:
    """Whoever was turned away was answered: only silence, and what passes by itself, counts as no answer."""
    kind = NoAnswer if isinstance(error, Unavailable) else Unreadable
    return kind(about + _sentence(error))


def _sentence(error: KubeError) -> str:
    match error:
        case Unavailable():
            return f"the API server does not answer: {error}"
        case NoSuchKind():
            return (
                f"this API server knows no {error.kind}: the definitions of searchkeeper are not installed\n"
                "  kubectl apply -f operator/config/crd installs them, and so does OLM"
            )
        case Nobody():
            return f"the API server does not accept these credentials, or no longer: {error}"
        case Forbidden():
            return f"the account that was used may not do this: {error}"
        case Conflict():
            return f"somebody else changes the same object at the same time; try again: {error}"
        case _:
            return str(error)
