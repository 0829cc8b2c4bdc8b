"""Fake Kubernetes and OpenSearch, invariants and faults: for tests, `--embedded` and proofs."""
