"""Rules for bundle folders: what the validators of opm and operator-framework/api check."""
