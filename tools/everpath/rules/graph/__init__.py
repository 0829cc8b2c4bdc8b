"""Rules about the upgrade graph of a channel: heads, successors, edges and skip ranges (EP2xx, EP3xx)."""
