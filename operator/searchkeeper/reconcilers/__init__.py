"""Versioned reconcilers: the actions of each configuration version, and the status that follows from them."""
