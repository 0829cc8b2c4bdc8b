"""Reporters of `everpath simulate`."""
