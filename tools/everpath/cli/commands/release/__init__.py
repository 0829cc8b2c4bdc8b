"""Commands that write releases.yaml, bundles and catalogs as files."""
