"""Reporters of `everpath why`."""
