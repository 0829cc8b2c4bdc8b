"""The index of a catalog, from which the registry API is answered."""
