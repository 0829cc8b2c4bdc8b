"""The search engine behind a driver: what can be seen of it, and what it can be told."""
