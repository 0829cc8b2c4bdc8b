"""Folders of package manifests, flat or with a folder a version, and what becomes of them."""
