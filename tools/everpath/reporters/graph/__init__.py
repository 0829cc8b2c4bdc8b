"""Drawings of channels, and graphs as data."""
