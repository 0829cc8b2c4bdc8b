"""File-based catalogs: streams and folders of documents, read by opm's rules."""
