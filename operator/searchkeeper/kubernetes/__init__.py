"""The Kubernetes API as the operator uses it: client port, operations as data, REST mapping."""
