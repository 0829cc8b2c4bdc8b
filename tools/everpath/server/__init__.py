"""A catalog on the network: OLM v0's registry API over gRPC, and catalogd's content API over HTTP."""
