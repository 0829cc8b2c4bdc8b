"""Pod templates of OpenSearch nodes, for the images that the OpenSearch project publishes."""

from __future__ import annotations

__all__ = ["CONTAINER_SECURITY_CONTEXT", "POD_SECURITY_CONTEXT", "pod_template"]

from typing import Any, Final

from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, digest
from searchkeeper.desired.settings import CERTIFICATES_FOLDER, settings_digest
from searchkeeper.images import engine_image

# Both images run as user 1000. The fsGroup makes volumes and Secrets accessible to it.
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
_USERS_FOLDER: Final = "/users"
# No $(...): Kubernetes expands it in a command as a variable reference.
_WRITE_USERS: Final = f"""\
set -eu -o pipefail
bash {_HOME}/plugins/opensearch-security/tools/hash.sh -env PASSWORD | tail -n 1 | {{
  read -r hash
  printf '"_meta": {{"type": "internalusers", "config_version": 2}}\\n'
  printf '"%s": {{"hash": "%s", "backend_roles": ["admin"]}}\\n' "$USERNAME" "$hash"
}} > {_USERS_FOLDER}/{_USERS_FILE}
"""


def pod_template(cluster: DesiredCluster, pool: PoolSpec, engine_version: str) -> dict[str, Any]:
    """The pod template of a pool, annotated with its digest: a pod with another digest is outdated."""
    image = engine_image(engine_version, cluster.images)
    annotations, labels = settings_digest(cluster), cluster.labels(pool.name)
    volumes, mounts = _volumes_and_mounts(cluster, pool)
    template: dict[str, Any] = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {
            "terminationGracePeriodSeconds": 120,
            "securityContext": POD_SECURITY_CONTEXT,
            **({"initContainers": [_users_container(cluster, image)]} if cluster.has_authentication else {}),
            "containers": [_node_container(cluster, pool, image, mounts)],
            "volumes": volumes,
        },
    }
    annotations = {**annotations, names.TEMPLATE: digest(template)}
    return {**template, "metadata": {"labels": labels, "annotations": annotations}}


def _node_container(
    cluster: DesiredCluster, pool: PoolSpec, image: str, mounts: list[dict[str, Any]]
) -> dict[str, Any]:
    # The probe checks the node, not the cluster: nodes must become ready before a manager is elected. With
    # TLS it only opens a connection, because a request may need a login.
    probe: dict[str, Any] = {"httpGet": {"path": "/_cluster/health?local=true", "port": names.HTTP_PORT}}
    if cluster.tls_secret is not None:
        probe = {"tcpSocket": {"port": names.HTTP_PORT}}
    return {
        "name": "opensearch",
        "image": image,
        "env": _environment(cluster, pool),
        "ports": [
            {"name": "http", "containerPort": names.HTTP_PORT},
            {"name": "transport", "containerPort": names.TRANSPORT_PORT},
        ],
        "readinessProbe": {**probe, "periodSeconds": 10, "failureThreshold": 3},
        "securityContext": CONTAINER_SECURITY_CONTEXT,
        "volumeMounts": mounts,
    }


def _environment(cluster: DesiredCluster, pool: PoolSpec) -> list[dict[str, Any]]:
    """Environment variables, none of which depends on `replicas`: scaling must not restart nodes.

    The image passes variables that are named like a setting on to OpenSearch, where they override the file.
    """
    first_voting_pool = next((each.name for each in cluster.spec.pools if each.votes), pool.name)
    initial_manager = cluster.bootstrap_manager or f"{names.pool_name(cluster.name, first_voting_pool)}-0"
    values = {
        names.ROLES: ",".join(_node_roles(pool)),
        names.INITIAL_MANAGERS: initial_manager,
        # The demo configuration has public certificates and needs an initial admin password.
        "DISABLE_INSTALL_DEMO_CONFIG": "true",
        **({} if cluster.tls_secret else {"DISABLE_SECURITY_PLUGIN": "true"}),
    }
    node_name = {"name": "node.name", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    # The API server drops an empty `value`. With one, every apply would see a difference.
    return [
        node_name,
        *({"name": name, **({"value": value} if value else {})} for name, value in values.items()),
    ]


def _node_roles(pool: PoolSpec) -> list[str]:
    """The value of `node.roles`, which is empty for a coordinating-only node."""
    return sorted(pool.roles - {"coordinating"})


def _volumes_and_mounts(
    cluster: DesiredCluster, pool: PoolSpec
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Volumes and their mounts. Files are mounted singly: the image has other files in the same folders."""
    key = names.SETTINGS_FILE if _node_roles(pool) else names.COORDINATING_SETTINGS_FILE
    items = [{"key": key, "path": names.SETTINGS_FILE}]
    config: dict[str, Any] = {"name": "config"}
    if cluster.has_separate_credentials:
        config["configMap"] = {"name": names.settings_config_map(cluster.name), "items": items}
    else:
        config["secret"] = {"secretName": names.old_config_secret(cluster.name), "items": items}
    path = f"{_HOME}/config/{names.SETTINGS_FILE}"
    volumes = [config]
    mounts = [{"name": "config", "mountPath": path, "subPath": names.SETTINGS_FILE, "readOnly": True}]
    if cluster.tls_secret is not None:
        name, path = names.CERTIFICATES_VOLUME, f"{_HOME}/config/{CERTIFICATES_FOLDER}"
        volumes.append({"name": name, "secret": {"secretName": cluster.tls_secret}})
        mounts.append({"name": name, "mountPath": path, "readOnly": True})
    if cluster.has_authentication:
        path = f"{_HOME}/config/opensearch-security/{_USERS_FILE}"
        volumes.append({"name": "users", "emptyDir": {}})
        mounts.append({"name": "users", "mountPath": path, "subPath": _USERS_FILE, "readOnly": True})
    if pool.storage.ephemeral:
        volumes.append({"name": "data", "emptyDir": {}})
    mounts.append({"name": "data", "mountPath": f"{_HOME}/data"})
    return volumes, mounts


def _users_container(cluster: DesiredCluster, image: str) -> dict[str, Any]:
    """The init container that writes the user file. Only the OpenSearch image has the tool that hashes."""
    return {
        "name": "users",
        "image": image,
        "command": ["bash", "-c", _WRITE_USERS],
        "env": [
            {"name": "OPENSEARCH_JAVA_HOME", "value": f"{_HOME}/jdk"},
            cluster.credential_variable("USERNAME", "username"),
            cluster.credential_variable("PASSWORD", "password"),
        ],
        "securityContext": CONTAINER_SECURITY_CONTEXT,
        "volumeMounts": [{"name": "users", "mountPath": _USERS_FOLDER}],
    }
