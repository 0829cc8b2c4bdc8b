"""What an operator asked an API server for, read from the server's own audit log."""

from __future__ import annotations

__all__ = ["AuditedRequest", "requests", "unneeded_permissions"]

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from searchkeeper.kubernetes.operations import Create, Delete, EmitEvent, EventType, Key, Manifest, Patch
from searchkeeper.kubernetes.rest_mapping import KINDS
from searchkeeper.planner import Operation
from searchkeeper.testing.invariants.transitions import StatusPatch

# One line of the log.
Audited: TypeAlias = Mapping[str, Any]

_COMPLETE: Final = "ResponseComplete"
_READS: Final = frozenset({"get", "list", "watch"})
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"
_ROLE: Final = re.compile(r'of (?:Cluster)?Role "(?P<role>[^"]+)"')
_KINDS: Final = {(kind.api, kind.plural): kind.name for kind in KINDS}


@dataclass(frozen=True, slots=True)
class AuditedRequest:
    """A change that was asked for and made. `who` is the token that it came with: one for each process.

    `answer` is the object as it was after it, or a Status where it is gone. Without one it is open whether
    anything was done: whoever dies while it waits for an answer is answered with a time that has run out.
    """

    who: str
    key: Key
    write: Operation
    answer: Manifest | None

    @property
    def resource_version(self) -> str:
        """The resource version that it was decided on; "" where it names none."""
        write = self.write.patch if isinstance(self.write, StatusPatch) else self.write
        return write.resource_version if isinstance(write, Patch | Delete) else ""


def requests(log: Iterable[Audited]) -> Iterator[AuditedRequest]:
    """Every change that was made, or may have been. What was refused has changed nothing.

    Raises ValueError for a verb that the operator has no use for.
    """
    for each in log:
        is_done, is_open = _status(each) in range(200, 300), _status(each) not in range(200, 500)
        if each["stage"] == _COMPLETE and each["verb"] not in _READS and (is_done or is_open):
            key = _key(each)
            answer = each.get("responseObject") or {}
            yield AuditedRequest(_who(each), key, _write(each, key), answer if is_done else None)


def unneeded_permissions(log: Iterable[Audited], roles: Collection[str]) -> list[str]:
    """What was asked for and not allowed, reads included, and changes that other roles than these allowed.

    A policy or a quota that refuses what roles allow answers with the same number: that is no missing right.
    """
    return [
        f"{each['verb']} {each['requestURI']}: {_reason(each) or 'not allowed'}"
        for each in log
        if not _is_allowed(each) or (each["verb"] not in _READS and _role(each) not in roles)
    ]


def _is_allowed(event: Audited) -> bool:
    """Whoever is forbidden something, and was allowed it before, was stopped by admission."""
    code = _status(event)
    return code != 401 and (code != 403 or _noted(event, "decision") == "allow")


def _reason(event: Audited) -> str:
    return _noted(event, "reason")


def _noted(event: Audited, what: str) -> str:
    """By whoever has asked the roles."""
    return str((event.get("annotations") or {}).get(f"authorization.k8s.io/{what}", ""))


def _role(event: Audited) -> str | None:
    """By whose word it was allowed."""
    found = _ROLE.search(_reason(event))
    return None if found is None else found["role"]


def _status(event: Audited) -> int:
    return int((event.get("responseStatus") or {}).get("code", 0))


def _who(event: Audited) -> str:
    user = event["user"]
    return str((user.get("extra") or {}).get(_CREDENTIAL, [user["username"]])[0])


def _key(event: Audited) -> Key:
    about = event["objectRef"]
    group, version = about.get("apiGroup"), about["apiVersion"]
    api = f"{group}/{version}" if group else str(version)
    name = about.get("name") or event["requestObject"]["metadata"]["name"]
    return Key(api, _KINDS[api, about["resource"]], about.get("namespace", ""), name)


def _write(event: Audited, key: Key) -> Operation:
    asked = event.get("requestObject") or {}
    match event["verb"]:
        case "create" if key.kind == "Event":
            return _event(asked)
        case "create":
            return Create({**asked, "apiVersion": key.api, "kind": key.kind})
        case "patch":
            patch = Patch(key, asked, (asked.get("metadata") or {}).get("resourceVersion", ""))
            return StatusPatch(patch) if event["objectRef"].get("subresource") == "status" else patch
        case "delete":
            preconditions = asked.get("preconditions") or {}
            is_orphaning = asked.get("propagationPolicy") == "Orphan"
            return Delete(
                key, preconditions.get("uid", ""), preconditions.get("resourceVersion", ""), is_orphaning
            )
        case verb:
            raise ValueError(f"nobody expects an operator to {verb} {key}")


def _event(asked: Manifest) -> EmitEvent:
    about = asked["involvedObject"]
    key = Key(about["apiVersion"], about["kind"], about["namespace"], about["name"])
    return EmitEvent(key, asked["reason"], asked["message"], EventType(asked["type"]))
