"""Every road an upgrade may take: counted, listed, demanded, and kept by as few bundles as can be.

network    who may go where in one hop, under either resolver or as far as the edges allow
roads      how many roads there are, the shortest, the longest, the first few
demands    everybody passes X; nobody lands on Y
mirror     the fewest bundles that leave nobody without a road: by `chain` for v0, by `climb` for v1
survey     one question about a package, and its answer
"""
