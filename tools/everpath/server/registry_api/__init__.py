"""The registry API of operator-registry over gRPC, as `opm serve` implements it."""
