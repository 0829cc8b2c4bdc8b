"""Where the operator meets the world: threads, clocks, sockets and signals live here and nowhere below."""
