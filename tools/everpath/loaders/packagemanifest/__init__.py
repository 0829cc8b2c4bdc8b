"""Package manifests, the format before bundles: loading, flattening, nesting, and migration to a catalog."""
