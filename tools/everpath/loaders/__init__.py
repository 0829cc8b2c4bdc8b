"""Readers: from files to the model. Each keeps what it does not know and reports what it cannot read."""
