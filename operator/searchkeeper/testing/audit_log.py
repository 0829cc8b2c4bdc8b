"""The requests of an operator, parsed from the API server's audit log."""

from __future__ import annotations

__all__ = ["AuditedRequest", "requests", "unneeded_permissions"]

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from searchkeeper.kubernetes.operations import Create, Delete, EmitEvent, EventType, Key, Manifest, Patch
from searchkeeper.kubernetes.rest_mapping import KINDS
from searchkeeper.planner import Operation
from searchkeeper.testing.ports import StatusPatch

# One event of the log.
AuditEvent: TypeAlias = Mapping[str, Any]

_COMPLETE: Final = "ResponseComplete"
_READ_VERBS: Final = frozenset({"get", "list", "watch"})
_CREDENTIAL: Final = "authentication.kubernetes.io/credential-id"
_ROLE: Final = re.compile(r'of (?:Cluster)?Role "(?P<role>[^"]+)"')
_KINDS: Final = {(kind.api, kind.plural): kind.name for kind in KINDS}


@dataclass(frozen=True, slots=True)
class AuditedRequest:
    """A write that succeeded, or may have.

    `client` identifies the process by its token. `response` is the object after the write, or a Status if the
    object is gone. It is None if the client got no response: the write may have been executed.
    """

    client: str
    key: Key
    write: Operation
    response: Manifest | None

    @property
    def resource_version(self) -> str:
        """The resource version in the write's preconditions; "" if it has none."""
        write = self.write.patch if isinstance(self.write, StatusPatch) else self.write
        return write.resource_version if isinstance(write, Patch | Delete) else ""


def requests(log: Iterable[AuditEvent]) -> Iterator[AuditedRequest]:
    """Yield every write that succeeded or got no response. Rejected writes changed nothing.

    Raises ValueError for a verb that the operator does not use.
    """
    for event in log:
        code = _response_code(event)
        is_success, is_rejection = code in range(200, 300), code in range(300, 500)
        if event["stage"] == _COMPLETE and event["verb"] not in _READ_VERBS and not is_rejection:
            user = event["user"]
            client = str((user.get("extra") or {}).get(_CREDENTIAL, [user["username"]])[0])
            key = _key(event)
            response = event.get("responseObject") or {}
            yield AuditedRequest(client, key, _write(event, key), response if is_success else None)


def unneeded_permissions(log: Iterable[AuditEvent], roles: Collection[str]) -> list[str]:
    """Return the requests that RBAC forbade, reads included, and the writes that other roles allowed.

    A policy or quota answers 403 too, but after RBAC allowed the request.
    """
    return [
        f"{event['verb']} {event['requestURI']}: {_authorization(event, 'reason') or 'not allowed'}"
        for event in log
        if not _is_authorized(event) or (event["verb"] not in _READ_VERBS and _role(event) not in roles)
    ]


def _is_authorized(event: AuditEvent) -> bool:
    code = _response_code(event)
    return code != 401 and (code != 403 or _authorization(event, "decision") == "allow")


def _role(event: AuditEvent) -> str | None:
    """Return the role that allowed the request."""
    match = _ROLE.search(_authorization(event, "reason"))
    return None if match is None else match["role"]


def _authorization(event: AuditEvent, annotation: str) -> str:
    return str((event.get("annotations") or {}).get(f"authorization.k8s.io/{annotation}", ""))


def _response_code(event: AuditEvent) -> int:
    return int((event.get("responseStatus") or {}).get("code", 0))


def _key(event: AuditEvent) -> Key:
    reference = event["objectRef"]
    group, version = reference.get("apiGroup"), reference["apiVersion"]
    api = f"{group}/{version}" if group else str(version)
    name = reference.get("name") or event["requestObject"]["metadata"]["name"]
    return Key(api, _KINDS[api, reference["resource"]], reference.get("namespace", ""), name)


def _write(event: AuditEvent, key: Key) -> Operation:
    body = event.get("requestObject") or {}
    match event["verb"]:
        case "create" if key.kind == "Event":
            about = body["involvedObject"]
            subject = Key(about["apiVersion"], about["kind"], about["namespace"], about["name"])
            return EmitEvent(subject, body["reason"], body["message"], EventType(body["type"]))
        case "create":
            return Create({**body, "apiVersion": key.api, "kind": key.kind})
        case "patch":
            patch = Patch(key, body, (body.get("metadata") or {}).get("resourceVersion", ""))
            return StatusPatch(patch) if event["objectRef"].get("subresource") == "status" else patch
        case "delete":
            preconditions = body.get("preconditions") or {}
            orphan = body.get("propagationPolicy") == "Orphan"
            return Delete(key, preconditions.get("uid", ""), preconditions.get("resourceVersion", ""), orphan)
        case verb:
            raise ValueError(f"unexpected request of the operator: {verb} {key}")
