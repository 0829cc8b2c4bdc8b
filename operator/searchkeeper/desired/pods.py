"""The pods of the engine, made for the images that its project publishes."""

from __future__ import annotations

__all__ = ["CONTAINER_SECURITY_CONTEXT", "POD_SECURITY_CONTEXT", "pod_template"]

from typing import Any, Final

from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, digest
from searchkeeper.desired.settings import CERTIFICATES, settings_digest
from searchkeeper.images import engine_image

# The user of both images; volumes and Secrets are readable for its group.
POD_SECURITY_CONTEXT: Final = {
    "runAsUser": 1000,
    "runAsGroup": 1000,
    "runAsNonRoot": True,
    "fsGroup": 1000,
    "seccompProfile": {"type": "RuntimeDefault"},
}
CONTAINER_SECURITY_CONTEXT: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}

_HOME: Final = "/usr/share/opensearch"
_USERS_FILE: Final = "internal_users.yml"
_USERS: Final = "/users"
# No command substitution: Kubernetes has a meaning of its own for it.
_WRITE_USERS: Final = f"""\
set -eu -o pipefail
bash {_HOME}/plugins/opensearch-security/tools/hash.sh -env PASSWORD | tail -n 1 | {{
  read -r hash
  printf '"_meta": {{"type": "internalusers", "config_version": 2}}\\n'
  printf '"%s": {{"hash": "%s", "backend_roles": ["admin"]}}\\n' "$USERNAME" "$hash"
}} > {_USERS}/{_USERS_FILE}
"""


def pod_template(deployed: DesiredCluster, pool: PoolSpec, engine_version: str) -> dict[str, Any]:
    """A pod, with a digest of itself: whoever has another one was made from another template."""
    image = engine_image(engine_version, deployed.images)
    annotations, labels = settings_digest(deployed), deployed.labels(pool.name)
    made: dict[str, Any] = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {
            "terminationGracePeriodSeconds": 120,
            "securityContext": POD_SECURITY_CONTEXT,
            **({"initContainers": [_users(deployed, image)]} if deployed.has_users else {}),
            "containers": [_container(deployed, pool, image)],
            "volumes": _volumes(deployed, pool),
        },
    }
    own = {names.TEMPLATE: digest(made)}
    return {**made, "metadata": {"labels": labels, "annotations": {**annotations, **own}}}


def _container(deployed: DesiredCluster, pool: PoolSpec, image: str) -> dict[str, Any]:
    return {
        "name": "opensearch",
        "image": image,
        "env": _environment(deployed, pool),
        "ports": [
            {"name": "http", "containerPort": names.HTTP_PORT},
            {"name": "transport", "containerPort": names.TRANSPORT_PORT},
        ],
        "readinessProbe": {**_question(deployed), "periodSeconds": 10, "failureThreshold": 3},
        "securityContext": CONTAINER_SECURITY_CONTEXT,
        "volumeMounts": _mounts(deployed),
    }


def _question(deployed: DesiredCluster) -> dict[str, Any]:
    """Whether a node can be spoken to; not whether it has joined, or nobody could ever elect a manager.

    Where the engine asks who somebody is, that it answers at all must do.
    """
    if deployed.certificates is not None:
        return {"tcpSocket": {"port": names.HTTP_PORT}}
    return {"httpGet": {"path": "/_cluster/health?local=true", "port": names.HTTP_PORT}}


def _environment(deployed: DesiredCluster, pool: PoolSpec) -> list[dict[str, Any]]:
    """Nothing that a scaling would change: a changed template means that every node restarts.

    What is called like a setting is handed on to the engine, where it outranks the file.
    """
    first = next((each.name for each in deployed.spec.pools if each.votes), pool.name)
    plain = {
        names.ROLES: ",".join(_roles(pool)),
        names.INITIAL_MANAGERS: deployed.bootstrapper or f"{names.pool_name(deployed.name, first)}-0",
        # Certificates and a password for everybody to read; without the former it demands the latter.
        "DISABLE_INSTALL_DEMO_CONFIG": "true",
        **({} if deployed.certificates else {"DISABLE_SECURITY_PLUGIN": "true"}),
    }
    own_name = {"name": "node.name", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    # An API server does not keep what is empty: to ask for it would never end.
    return [own_name, *({"name": name, **({"value": text} if text else {})} for name, text in plain.items())]


def _roles(pool: PoolSpec) -> list[str]:
    return sorted(pool.roles - {"coordinating"})


def _mounts(deployed: DesiredCluster) -> list[dict[str, Any]]:
    """Single files: beside them is what the image has there, and what the engine makes at its start."""
    mounts = [_file("config", f"config/{names.SETTINGS_FILE}")]
    if deployed.certificates is not None:
        path = f"{_HOME}/config/{CERTIFICATES}"
        mounts.append({"name": names.CERTIFICATES_VOLUME, "mountPath": path, "readOnly": True})
    if deployed.has_users:
        mounts.append(_file("users", f"config/opensearch-security/{_USERS_FILE}"))
    return [*mounts, {"name": "data", "mountPath": f"{_HOME}/data"}]


def _file(volume: str, path: str) -> dict[str, Any]:
    name = path.rpartition("/")[2]
    return {"name": volume, "mountPath": f"{_HOME}/{path}", "subPath": name, "readOnly": True}


def _volumes(deployed: DesiredCluster, pool: PoolSpec) -> list[dict[str, Any]]:
    volumes: list[dict[str, Any]] = [{"name": "config", **_settings(deployed, pool)}]
    if deployed.certificates is not None:
        secret = {"secretName": deployed.certificates}
        volumes.append({"name": names.CERTIFICATES_VOLUME, "secret": secret})
    if deployed.has_users:
        volumes.append({"name": "users", "emptyDir": {}})
    if pool.storage.ephemeral:
        volumes.append({"name": "data", "emptyDir": {}})
    return volumes


def _settings(deployed: DesiredCluster, pool: PoolSpec) -> dict[str, Any]:
    key = names.SETTINGS_FILE if _roles(pool) else names.ROLELESS_FILE
    items = [{"key": key, "path": names.SETTINGS_FILE}]
    if deployed.is_split:
        return {"configMap": {"name": names.settings_map(deployed.name), "items": items}}
    return {"secret": {"secretName": names.old_config_secret(deployed.name), "items": items}}


def _users(deployed: DesiredCluster, image: str) -> dict[str, Any]:
    """Writes down the user of the credentials as the engine wants it: only its image can hash a password."""
    return {
        "name": "users",
        "image": image,
        "command": ["bash", "-c", _WRITE_USERS],
        "env": [
            {"name": "OPENSEARCH_JAVA_HOME", "value": f"{_HOME}/jdk"},
            deployed.credential("USERNAME", "username"),
            deployed.credential("PASSWORD", "password"),
        ],
        "securityContext": CONTAINER_SECURITY_CONTEXT,
        "volumeMounts": [{"name": "users", "mountPath": _USERS}],
    }
