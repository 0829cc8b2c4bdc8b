"""Use cases on a cluster with OLM: install, upgrade, uninstall and the status of operators."""
