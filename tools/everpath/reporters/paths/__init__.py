"""Reporters of `everpath paths`."""
