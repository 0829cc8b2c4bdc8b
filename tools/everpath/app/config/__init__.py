"""The configuration: everpath.yaml, or the table of everpath in pyproject.toml."""
