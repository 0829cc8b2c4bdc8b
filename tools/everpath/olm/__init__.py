"""Operators on a cluster with OLM v0: install, upgrade, uninstall, and the state of every object involved.

objects          Kubernetes objects as JSON, their kinds, and the interface `Cluster`
kube             the implementation of `Cluster` with the Kubernetes client
manifests        the objects that install an operator
changes          differences between objects, and what was done to an object
snapshot         all objects of one operator on the cluster
status           the types of a status: state, waits
catalog_source, subscription, install_plan, csv, workload    the status of each kind of object
chain            the status of an operator: its chain of objects from CatalogSource to Deployment
follow           poll the status until it is final or the timeout expires
install, upgrade, uninstall    the operations
reporter         a status as text and as JSON
"""
