"""Commands that answer questions about a catalog and change nothing."""
