"""File-based catalogs (FBC): load, decode and write them as opm does."""
