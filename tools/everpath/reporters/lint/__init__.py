"""Reporters of findings."""
