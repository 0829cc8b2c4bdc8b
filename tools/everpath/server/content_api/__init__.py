"""The content API of catalogd over HTTP."""
