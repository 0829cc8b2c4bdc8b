"""Loaders of bundle folders and operators repositories."""
