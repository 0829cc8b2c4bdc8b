"""Reporters of `everpath compare`."""
