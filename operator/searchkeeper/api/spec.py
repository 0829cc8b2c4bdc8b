"""Types of the spec that users write. The schemas of the CRDs are generated from them."""

from __future__ import annotations

__all__ = [
    "CA_CERTIFICATE",
    "DATA_ROLES",
    "HAS_MANAGERS_RULE",
    "MAX_BATCH",
    "MIN_BATCH",
    "MIN_DEADLINE",
    "ROLES",
    "SEARCH_RULE",
    "TLS_ENTRIES",
    "WARM_RULE",
    "ClusterSpec",
    "Dashboards",
    "PoolSpec",
    "Rollback",
    "SearchPoolSpec",
    "Security",
    "Storage",
    "UpgradePolicy",
]

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, ClassVar, Final

from searchkeeper.api.pod_template import POD_TEMPLATE_SCHEMA
from searchkeeper.api.schema import FieldSchema, JsonObject, Rule
from searchkeeper.api.settings import SETTINGS_SCHEMA

ROLES: Final = (
    "cluster_manager",
    "data",
    "ingest",
    "ml",
    "coordinating",
    "remote_cluster_client",
    "search",
    "warm",
)
# Nodes with one of these have shards on their disks.
DATA_ROLES: Final = frozenset({"data", "search", "warm"})

# The entry of the TLS Secret that clients verify certificates with, and all entries that nodes need.
CA_CERTIFICATE: Final = "ca.crt"
TLS_ENTRIES: Final = ("tls.crt", "tls.key", CA_CERTIFICATE)

# The codec brings values that an older CRD may have accepted within these. MAX_BATCH is not in the CRD: OLM
# v1 refuses a new maximum, and a stored value above it could not be written any more.
MIN_BATCH: Final = 1
MAX_BATCH: Final = 100
MIN_DEADLINE: Final = 30

_VERSION_PATTERN: Final = r"^\d+\.\d+\.\d+$"
# A DNS subdomain. It excludes slashes, which would change the path of an API request.
_OBJECT_NAME_PATTERN: Final = "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$"
# A qualified name, as the keys of labels are. It excludes quotes, which would end a field path.
_LABEL_KEY_PATTERN: Final = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"
)
# A part of what OpenSearch allows. It excludes what would change the path of a request.
_REPOSITORY_PATTERN: Final = "^[A-Za-z0-9_]([-A-Za-z0-9_.]*[A-Za-z0-9_])?$"
# A volume keeps its StorageClass, and what is on ephemeral storage is lost with the pod. The whole is
# compared first, because an API server tries a rule with the default of the field, which is empty.
_KEEP_STORAGE_RULE: Final = Rule(
    "self == oldSelf || self.ephemeral == oldSelf.ephemeral && "
    "has(self.storageClass) == has(oldSelf.storageClass) && "
    "(!has(self.storageClass) || self.storageClass == oldSelf.storageClass)",
    "storageClass and ephemeral are immutable: add a pool with the new storage, then remove this pool",
)
# Kubernetes enlarges volumes and never makes them smaller. An older CRD may have accepted a size that is no
# quantity; it stays valid while it does not change.
_GROWING_SIZE_RULE: Final = Rule(
    "self == oldSelf || self.size == oldSelf.size || "
    "quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0",
    "size can only grow: add a pool with smaller volumes, then remove this pool",
)
# A node that loses the role data, search or warm does not start while it has shards on its disk. The vote of
# a node that loses the role cluster_manager remains in the voting configuration.
_KEEP_ROLES_RULE: Final = Rule(
    "oldSelf.all(role, role in self || !(role in ['data', 'search', 'warm', 'cluster_manager']))",
    "the roles data, search, warm and cluster_manager cannot be removed from a pool: add a pool without "
    "them, then remove this pool; the operator drains its shards and votes first",
)
# OpenSearch 2 takes an unknown role for a label, and allocates nothing to it.
WARM_RULE: Final = Rule(
    "!self.version.matches('^[0-2][.]') || !self.pools.exists(pool, 'warm' in pool.roles)",
    "the role warm exists since OpenSearch 3.0: use search for searchable snapshots in OpenSearch 2",
)
# Such a node does not start: "search role cannot be combined with any other role on a node".
SEARCH_RULE: Final = Rule(
    "self.version.matches('^[0-2][.]') || "
    "self.pools.all(pool, !('search' in pool.roles) || size(pool.roles) == 1)",
    "the role search cannot be combined with other roles since OpenSearch 3.0: add a pool for it, or use the "
    "role warm for searchable snapshots",
)
# Without a manager the cluster cannot elect one, and scaling to zero managers loses the cluster state.
HAS_MANAGERS_RULE: Final = Rule(
    "self.exists(pool, 'cluster_manager' in pool.roles && pool.replicas > 0)",
    "at least one pool with the role cluster_manager must have replicas greater than 0",
)


class Rollback(StrEnum):
    """What the operator does when an upgrade step fails before the point of no return."""

    AUTOMATIC = "Automatic"
    MANUAL = "Manual"
    OFF = "Off"


@dataclass(frozen=True, slots=True)
class Storage:
    """Storage of the nodes of a pool."""

    size: Annotated[
        str,
        FieldSchema(
            "Size of the volume of each node, as a Kubernetes quantity. It can grow if the StorageClass "
            "allows volume expansion. Ignored if ephemeral is true.",
            max_length=32,
            pattern=r"^[1-9][0-9]*(\.[0-9]+)?(Ki|Mi|Gi|Ti|Pi|k|M|G|T|P)?$",
        ),
    ] = "10Gi"
    storage_class: Annotated[
        str | None,
        FieldSchema(
            "StorageClass of the volumes. Defaults to the default StorageClass of the Kubernetes cluster.",
            min_length=1,
            max_length=253,
            pattern=_OBJECT_NAME_PATTERN,
        ),
    ] = None
    ephemeral: Annotated[
        bool,
        FieldSchema(
            "Store data in an emptyDir, which is lost with the pod. The operator drains a node before it "
            "replaces the pod."
        ),
    ] = False


_ROLES_DESCRIPTION: Final = (
    "OpenSearch roles of the nodes in this pool. A pool that has only the role coordinating runs "
    "coordinating-only nodes."
)
_STORAGE_DESCRIPTION: Final = "Storage of the nodes in this pool."
_REPLICAS_DESCRIPTION: Final = "Number of nodes in this pool."
_POD_TEMPLATE_DESCRIPTION: Final = (
    "Parts of a pod template that are merged over that of the operator, lists of named items by name: "
    "labels, annotations, resources and environment of the container {container}, scheduling, "
    "security context, volumes, further containers. What the operator sets itself is refused."
)


@dataclass(frozen=True, slots=True)
class PoolSpec:
    """Nodes that share roles and storage."""

    name: Annotated[
        str,
        FieldSchema(
            "Name of the pool, unique in the cluster. It is part of the names of its pods.",
            pattern="^[a-z]([-a-z0-9]*[a-z0-9])?$",
            max_length=24,
        ),
    ]
    roles: Annotated[
        frozenset[str],
        FieldSchema(
            f"{_ROLES_DESCRIPTION} The roles data, search, warm and cluster_manager cannot be removed.",
            enum=ROLES,
            min_items=1,
            max_items=len(ROLES),
            rules=(_KEEP_ROLES_RULE,),
        ),
    ]
    replicas: Annotated[int, FieldSchema(_REPLICAS_DESCRIPTION, minimum=0, maximum=200)]
    storage: Annotated[
        Storage,
        FieldSchema(
            f"{_STORAGE_DESCRIPTION} Only the size can change.",
            rules=(_KEEP_STORAGE_RULE, _GROWING_SIZE_RULE),
        ),
    ] = field(default_factory=Storage)
    pod_template: Annotated[
        JsonObject | None,
        FieldSchema(
            _POD_TEMPLATE_DESCRIPTION.format(container="opensearch") + " A change restarts the nodes.",
            content=POD_TEMPLATE_SCHEMA,
        ),
    ] = None
    config: Annotated[
        JsonObject | None,
        FieldSchema(
            "Settings of opensearch.yml for the nodes of this pool, over those of spec.config. A change "
            "restarts the nodes.",
            content=SETTINGS_SCHEMA,
        ),
    ] = None

    @property
    def votes(self) -> bool:
        return "cluster_manager" in self.roles

    @property
    def holds_data(self) -> bool:
        return bool(DATA_ROLES & self.roles)


@dataclass(frozen=True, slots=True)
class Dashboards:
    """OpenSearch Dashboards."""

    enabled: Annotated[bool, FieldSchema("Whether to deploy OpenSearch Dashboards.")] = False
    replicas: Annotated[int, FieldSchema("Number of Dashboards pods.", minimum=0, maximum=200)] = 1
    pod_template: Annotated[
        JsonObject | None,
        FieldSchema(_POD_TEMPLATE_DESCRIPTION.format(container="dashboards"), content=POD_TEMPLATE_SCHEMA),
    ] = None


@dataclass(frozen=True, slots=True)
class UpgradePolicy:
    """How the operator carries out an upgrade."""

    max_batch: Annotated[
        int,
        FieldSchema(
            "Maximum number of nodes that restart together. Nodes with a vote always restart one at a time, "
            "and nodes that hold copies of the same shard never restart together.",
            minimum=MIN_BATCH,
        ),
    ] = 1
    health_deadline: Annotated[
        int,
        FieldSchema(
            "Seconds that an upgrade step may wait for the cluster to become healthy. After that the step "
            "has failed.",
            name="healthDeadlineSeconds",
            minimum=MIN_DEADLINE,
        ),
    ] = 900
    paused: Annotated[
        bool, FieldSchema("Pause the upgrade: the operator starts no further step until this is false.")
    ] = False
    rollback: Annotated[
        Rollback,
        FieldSchema(
            "What happens when an upgrade step fails before the point of no return. Automatic starts a "
            "rollback, Manual waits for the annotation search.everpath.dev/rollback, and Off ignores that "
            "annotation, too. Setting version back always starts a rollback."
        ),
    ] = Rollback.MANUAL
    accept_single_copy_loss: Annotated[
        bool,
        FieldSchema(
            "Allow the restart of a node that holds the only copy of a shard. The shard is unavailable "
            "meanwhile, and lost if the storage of the node is ephemeral."
        ),
    ] = False
    snapshot_repository: Annotated[
        str | None,
        FieldSchema(
            "Name of a snapshot repository that is registered in OpenSearch. With it, an upgrade starts "
            "after a snapshot of all indices in this repository has succeeded.",
            min_length=1,
            max_length=255,
            pattern=_REPOSITORY_PATTERN,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Security:
    """Secrets with certificates and credentials."""

    tls_secret: Annotated[
        str | None,
        FieldSchema(
            "Name of the Secret with the entries tls.crt, tls.key and ca.crt. Enables TLS for clients and "
            "between nodes. It cannot be added to a cluster that runs without TLS.",
            min_length=1,
            max_length=253,
            pattern=_OBJECT_NAME_PATTERN,
        ),
    ] = None
    credentials_secret: Annotated[
        str | None,
        FieldSchema(
            "Name of the Secret with the entries username and password of the admin user. Takes effect only "
            "together with tlsSecret.",
            min_length=1,
            max_length=253,
            pattern=_OBJECT_NAME_PATTERN,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class ClusterSpec:
    """Desired state of a cluster."""

    RULES: ClassVar[tuple[Rule, ...]] = (WARM_RULE, SEARCH_RULE)

    version: Annotated[
        str,
        FieldSchema(
            "OpenSearch version to run. Raising it starts an upgrade.",
            pattern=_VERSION_PATTERN,
            max_length=32,
        ),
    ]
    pools: Annotated[
        tuple[PoolSpec, ...],
        FieldSchema(
            "Pools of nodes that share roles and storage.",
            key="name",
            min_items=1,
            max_items=32,
            rules=(HAS_MANAGERS_RULE,),
        ),
    ]
    dashboards: Annotated[
        Dashboards, FieldSchema("OpenSearch Dashboards. The operator upgrades them after the nodes.")
    ] = field(default_factory=Dashboards)
    upgrade: Annotated[UpgradePolicy, FieldSchema("How the operator carries out an upgrade.")] = field(
        default_factory=UpgradePolicy
    )
    security: Annotated[
        Security,
        FieldSchema("Secrets with certificates and credentials. Without them the cluster is not secured."),
    ] = field(default_factory=Security)
    config: Annotated[
        JsonObject | None,
        FieldSchema(
            "Settings of opensearch.yml for all nodes, by their whole names. Settings that the operator sets "
            "are refused. A change restarts the nodes.",
            content=SETTINGS_SCHEMA,
        ),
    ] = None
    plugins: Annotated[
        tuple[str, ...],
        FieldSchema(
            "Plugins to install beside those of the image, by name, Maven coordinates or URL, as "
            "opensearch-plugin takes them; {version} stands for the OpenSearch version. A change restarts "
            "the nodes.",
            max_items=32,
        ),
    ] = ()
    keystore_secret: Annotated[
        str | None,
        FieldSchema(
            "Name of the Secret whose entries are secure settings for the keystore of the nodes. A change of "
            "its content restarts the nodes.",
            min_length=1,
            max_length=253,
            pattern=_OBJECT_NAME_PATTERN,
        ),
    ] = None
    topology_key: Annotated[
        str | None,
        FieldSchema(
            "Label of Kubernetes nodes with their zone, such as topology.kubernetes.io/zone. OpenSearch "
            "spreads the copies of a shard over zones, and Kubernetes the nodes of a pool. Pods must get the "
            "label, as Kubernetes does since 1.35 for topology.kubernetes.io/zone and "
            "topology.kubernetes.io/region. A change restarts the nodes.",
            min_length=1,
            max_length=317,
            pattern=_LABEL_KEY_PATTERN,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class SearchPoolSpec:
    """Desired state of a pool. The operator writes it into a SearchPool."""

    cluster: Annotated[str, FieldSchema("Name of the SearchCluster that this pool belongs to.")]
    roles: Annotated[
        frozenset[str], FieldSchema(_ROLES_DESCRIPTION, enum=ROLES, min_items=1, max_items=len(ROLES))
    ]
    replicas: Annotated[int, FieldSchema(_REPLICAS_DESCRIPTION, minimum=0)]
    engine_version: Annotated[
        str | None,
        FieldSchema("OpenSearch version that the pods may run now. The operator raises it in an upgrade."),
    ] = None
    storage: Annotated[Storage, FieldSchema(_STORAGE_DESCRIPTION)] = field(default_factory=Storage)
    pod_template: Annotated[
        JsonObject | None, FieldSchema("The podTemplate of the pool in the SearchCluster.", is_open=True)
    ] = None
    config: Annotated[
        JsonObject | None,
        FieldSchema("Settings of the pool, and those of the SearchCluster.", is_open=True),
    ] = None
