"""The inputs of a command: paths, images and the catalogs of a cluster."""
