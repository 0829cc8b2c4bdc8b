"""Pod templates of OpenSearch nodes, for the images that the OpenSearch project publishes."""

from __future__ import annotations

__all__ = ["CONTAINER_SECURITY_CONTEXT", "pod_security_context", "pod_template", "probes"]

from collections.abc import Iterator
from typing import Any, Final

from searchkeeper.api.settings import setting_text
from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, digest
from searchkeeper.desired.pod_overrides import with_pod_template
from searchkeeper.desired.quantities import parse_quantity
from searchkeeper.desired.settings import CERTIFICATES_FOLDER, settings_digest
from searchkeeper.images import engine_image

_SECURITY_CONTEXT: Final = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
# Both images run as user 1000. The fsGroup makes volumes and Secrets accessible to it.
_FS_GROUP: Final = {"fsGroup": 1000}
_FIXED_USER: Final = {"runAsUser": 1000, "runAsGroup": 1000}
CONTAINER_SECURITY_CONTEXT: Final = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}

_HOME: Final = "/usr/share/opensearch"
_JAVA_OPTIONS: Final = "OPENSEARCH_JAVA_OPTS"
_LARGEST_HEAP: Final = 31 * 2**30
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
_PLUGINS_FOLDER: Final = "/plugins"
# The tool installs in the file system of this container, beside the plugins of the image. All are copied.
_INSTALL_PLUGINS: Final = f"""\
set -eu
for plugin in "$@"; do
  {_HOME}/bin/opensearch-plugin install --batch "$plugin"
done
cp -a {_HOME}/plugins/. {_PLUGINS_FOLDER}/
"""
_KEYSTORE_FILE: Final = "opensearch.keystore"
_KEYSTORE_FOLDER: Final = "/keystore"
_KEYSTORE_ENTRIES_FOLDER: Final = "/keystore-entries"
# A file entry serves as a text too. The names of entries are those of secure settings.
_CREATE_KEYSTORE: Final = f"""\
set -eu
shopt -s nullglob
entries=()
for file in {_KEYSTORE_ENTRIES_FOLDER}/*; do
  entries+=("${{file##*/}}" "$file")
done
rm -f {_HOME}/config/{_KEYSTORE_FILE}
{_HOME}/bin/opensearch-keystore create
if test "${{#entries[@]}}" -gt 0; then
  {_HOME}/bin/opensearch-keystore add-file "${{entries[@]}}"
fi
cp {_HOME}/config/{_KEYSTORE_FILE} {_KEYSTORE_FOLDER}/
"""
_ANSWERS_OVER_TLS: Final = (
    "curl --silent --insecure --max-time 8 --output /dev/null --write-out '%{http_code}'"
    f" https://localhost:{names.HTTP_PORT}/ | grep --quiet --extended-regexp '^(200|401)$'"
)


def pod_security_context(cluster: DesiredCluster) -> dict[str, Any]:
    """The security context of a pod. Before version 5 it repeats the user of the image.

    Security context constraints of OpenShift may assign another user to an image that can run as any.
    """
    return {**({} if cluster.has_portable_pods else _FIXED_USER), **_FS_GROUP, **_SECURITY_CONTEXT}


def probes(cluster: DesiredCluster, port: int, readiness: dict[str, Any]) -> dict[str, Any]:
    """The probes of a container that serves `port`; before version 5 only the readiness probe.

    Startup and liveness only open a connection: a node that waits for a manager, or recovers for long, is
    alive. A start may take half an hour.
    """
    ready = {"readinessProbe": {**readiness, "periodSeconds": 10, "failureThreshold": 3}}
    if not cluster.has_portable_pods:
        return ready
    open_port = {"tcpSocket": {"port": port}, "timeoutSeconds": 5}
    ready["readinessProbe"]["timeoutSeconds"] = 10
    return {
        "startupProbe": {**open_port, "periodSeconds": 10, "failureThreshold": 180},
        "livenessProbe": {**open_port, "periodSeconds": 20, "failureThreshold": 6},
        **ready,
    }


def pod_template(cluster: DesiredCluster, pool: PoolSpec, engine_version: str) -> dict[str, Any]:
    """The pod template of a pool, annotated with its digest: a pod with another digest is outdated."""
    image = engine_image(engine_version, cluster.images)
    annotations = {**settings_digest(cluster), **_secret_digests(cluster)}
    labels = cluster.labels(pool.name)
    volumes, mounts = _volumes_and_mounts(cluster, pool)
    init_containers = [*_init_containers(cluster, image, engine_version)]
    template: dict[str, Any] = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {
            "terminationGracePeriodSeconds": 120,
            "securityContext": pod_security_context(cluster),
            **({"affinity": _spread_over_hosts(labels)} if cluster.has_portable_pods else {}),
            **_spread_over_zones(cluster, labels),
            **({"initContainers": init_containers} if init_containers else {}),
            "containers": [_node_container(cluster, pool, image, mounts)],
            "volumes": volumes,
        },
    }
    if cluster.has_portable_pods:
        template = _with_heap(with_pod_template(template, pool.pod_template))
        template = _with_zone_label(cluster, template)
    metadata = template["metadata"]
    annotations = {**metadata["annotations"], names.TEMPLATE: digest(template)}
    return {**template, "metadata": {**metadata, "annotations": annotations}}


def _with_heap(template: dict[str, Any]) -> dict[str, Any]:
    """Set the heap to half of the memory limit of the node's container, unless a user sets Java options.

    The other half is for the file cache. Above 31 GiB Java needs longer pointers, and has less use of more.
    Without a limit the image has its default.
    """
    node, *others = template["spec"]["containers"]
    limit = parse_quantity(((node.get("resources") or {}).get("limits") or {}).get("memory"))
    if limit is None or any(variable["name"] == _JAVA_OPTIONS for variable in node["env"]):
        return template
    mebibytes = max(1, min(int(limit / 2), _LARGEST_HEAP) // 2**20)
    options = {"name": _JAVA_OPTIONS, "value": f"-Xms{mebibytes}m -Xmx{mebibytes}m"}
    node = {**node, "env": [*node["env"], options]}
    return {**template, "spec": {**template["spec"], "containers": [node, *others]}}


def _with_zone_label(cluster: DesiredCluster, template: dict[str, Any]) -> dict[str, Any]:
    """Give pods the label with the zone, unless a user does. Kubernetes overwrites it with that of the node.

    A pod without the label would have an empty variable, which the image drops, and OpenSearch allocates no
    shards to a node without a zone.
    """
    if cluster.zone_label is None:
        return template
    metadata = template["metadata"]
    labels = {cluster.zone_label: names.UNKNOWN_ZONE, **metadata["labels"]}
    return {**template, "metadata": {**metadata, "labels": labels}}


def _secret_digests(cluster: DesiredCluster) -> dict[str, str]:
    """Annotations that make pods outdated when a Secret changes that nodes read only at start."""
    if not cluster.has_portable_pods:
        return {}
    digests = {names.CERTIFICATES_DIGEST: cluster.certificates, names.KEYSTORE_DIGEST: cluster.keystore}
    return {annotation: digest for annotation, digest in digests.items() if digest is not None}


def _spread_over_hosts(labels: dict[str, str]) -> dict[str, Any]:
    """The affinity by which nodes of a pool prefer different hosts: one host then costs one node."""
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}}
    preferred = [{"weight": 100, "podAffinityTerm": term}]
    return {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}


def _spread_over_zones(cluster: DesiredCluster, labels: dict[str, str]) -> dict[str, Any]:
    """The constraint by which the nodes of a pool prefer the zone with the fewest of them."""
    if cluster.zone_label is None:
        return {}
    constraint = {
        "maxSkew": 1,
        "topologyKey": cluster.zone_label,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": labels},
    }
    return {"topologySpreadConstraints": [constraint]}


def _readiness(cluster: DesiredCluster) -> dict[str, Any]:
    """How readiness is checked: the node, not the cluster, since nodes must be ready to elect a manager.

    With TLS, curl in the container accepts a missing login, which the kubelet does not: 401 means that TLS,
    HTTP and the security plugin work. The certificate is not verified: it is for the name of the Service, and
    an expired one must not make every node unready at once. Before version 5 the port need only be open.
    """
    if cluster.tls_secret is None:
        return {"httpGet": {"path": "/_cluster/health?local=true", "port": names.HTTP_PORT}}
    if not cluster.has_portable_pods:
        return {"tcpSocket": {"port": names.HTTP_PORT}}
    return {"exec": {"command": ["bash", "-c", _ANSWERS_OVER_TLS]}}


def _node_container(
    cluster: DesiredCluster, pool: PoolSpec, image: str, mounts: list[dict[str, Any]]
) -> dict[str, Any]:
    return {
        "name": "opensearch",
        "image": image,
        "env": _environment(cluster, pool),
        "ports": [
            {"name": "http", "containerPort": names.HTTP_PORT},
            {"name": "transport", "containerPort": names.TRANSPORT_PORT},
        ],
        **probes(cluster, names.HTTP_PORT, _readiness(cluster)),
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
        # Only the elected manager allocates shards.
        **({names.ZONE_AWARENESS: "zone"} if pool.votes and cluster.has_zone_aware_managers else {}),
        # In the template, not in the ConfigMap: a pod of a pool whose turn has not come keeps its settings.
        **_user_settings(cluster, pool),
    }
    fields = {"node.name": "metadata.name"}
    if cluster.zone_label is not None and names.ZONE not in values:
        fields[names.ZONE] = f"metadata.labels['{cluster.zone_label}']"
    # The API server drops an empty `value`. With one, every apply would see a difference.
    return [
        *({"name": name, "valueFrom": {"fieldRef": {"fieldPath": path}}} for name, path in fields.items()),
        *({"name": name, **({"value": value} if value else {})} for name, value in values.items()),
    ]


def _user_settings(cluster: DesiredCluster, pool: PoolSpec) -> dict[str, str]:
    """Settings of users as variables. Kubernetes would expand $(NAME) in a value; $$ stands for $."""
    texts = ((name, setting_text(value)) for name, value in sorted(cluster.config(pool).items()))
    return {name: text.replace("$", "$$") for name, text in texts if text is not None}


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
    if cluster.plugins:
        volumes.append({"name": "plugins", "emptyDir": {}})
        mounts.append({"name": "plugins", "mountPath": f"{_HOME}/plugins", "readOnly": True})
    if cluster.keystore_secret is not None:
        volumes.append({"name": "keystore-entries", "secret": {"secretName": cluster.keystore_secret}})
        volumes.append({"name": "keystore", "emptyDir": {}})
        path = f"{_HOME}/config/{_KEYSTORE_FILE}"
        mounts.append({"name": "keystore", "mountPath": path, "subPath": _KEYSTORE_FILE, "readOnly": True})
    if pool.storage.ephemeral:
        volumes.append({"name": "data", "emptyDir": {}})
    mounts.append({"name": "data", "mountPath": f"{_HOME}/data"})
    return volumes, mounts


def _init_containers(cluster: DesiredCluster, image: str, engine_version: str) -> Iterator[dict[str, Any]]:
    """The containers that prepare files with the tools of the image, before the node starts."""
    common = {"image": image, "securityContext": CONTAINER_SECURITY_CONTEXT}
    if cluster.has_authentication:
        yield _users_container(cluster, image)
    if cluster.plugins:
        # Kubernetes would expand $(NAME) in a command; $$ stands for $.
        plugins = [each.replace("{version}", engine_version).replace("$", "$$") for each in cluster.plugins]
        yield {
            "name": "plugins",
            "command": ["bash", "-c", _INSTALL_PLUGINS, "plugins", *plugins],
            "volumeMounts": [{"name": "plugins", "mountPath": _PLUGINS_FOLDER}],
            **common,
        }
    if cluster.keystore_secret is not None:
        entries = {"name": "keystore-entries", "mountPath": _KEYSTORE_ENTRIES_FOLDER, "readOnly": True}
        yield {
            "name": "keystore",
            "command": ["bash", "-c", _CREATE_KEYSTORE],
            "volumeMounts": [entries, {"name": "keystore", "mountPath": _KEYSTORE_FOLDER}],
            **common,
        }


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
