"""Bundle folders, operators repositories and package manifests, and the edges their modes make."""
