"""SearchCluster and SearchPool: typed, with the definitions that the API server is given."""
