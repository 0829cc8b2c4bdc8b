"""What was done to a cluster, in the words of the tools that people know."""

from __future__ import annotations

__all__ = ["Change", "Did"]

from enum import StrEnum
from typing import NamedTuple

from everpath.olm.objects import Ref


class Did(StrEnum):
    """What became of an object. The words are part of the JSON contract."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    APPROVED = "approved"
    DELETED = "deleted"


class Change(NamedTuple):
    """One object, and what was done to it."""

    did: Did
    ref: Ref

    def __str__(self) -> str:
        if self.did is Did.UNCHANGED:
            return f"{self.ref} is as wanted"
        return f"{self.did.capitalize()} {self.ref}"
