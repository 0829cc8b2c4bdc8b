"""Commands that render, build, push, pull and serve catalogs and bundles."""
