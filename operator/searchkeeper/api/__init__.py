"""The SearchCluster and SearchPool API: types, CRDs, validation and the status codec."""
