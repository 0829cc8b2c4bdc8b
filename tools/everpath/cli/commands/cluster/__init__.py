"""Commands that use a cluster."""
