"""Test doubles and checks for the operator: fake Kubernetes, fake OpenSearch, invariants and faults.

Tests, `searchkeeper run --embedded` and `searchkeeper run --engine embedded` use this package. An operator
that runs against a cluster with OpenSearch does not import it.

The doubles are immutable values and pure functions: a state and a request go in, the next state comes out.
Tests can therefore keep every state of a run, start from any of them again, and compare two states.

| module | content |
|---|---|
| `fake_kubernetes` | API server, controllers and kubelet |
| `fake_opensearch` | OpenSearch: membership, votes, shard allocation |
| `fake_cluster` | both together, behind the two ports of the operator |
| `ports` | a base class to wrap both ports |
| `faults` | injects one fault between the operator and its ports |
| `invariants` | what no write of the operator may do |
| `run_history`, `audit_log` | the same invariants for a run on a real API server |
"""
