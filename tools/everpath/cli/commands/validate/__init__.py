"""Commands that check catalogs and bundles, and the list of rules."""
