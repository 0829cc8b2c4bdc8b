"""Suggested fixes: edits of a channel, verified on copies of it."""
