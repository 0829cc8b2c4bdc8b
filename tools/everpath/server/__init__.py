"""Catalogs on the network: the registry API that OLM v0 asks over gRPC, and what OLM v1 reads over HTTP."""
