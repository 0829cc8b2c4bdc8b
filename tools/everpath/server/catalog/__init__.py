"""The files of a catalog while it is served: copies, documents, changes on disk."""
