"""Use cases of everpath, one module each: what a command does, callable from Python."""
