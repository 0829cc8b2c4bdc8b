"""`python -m everpath` is `everpath`."""

from everpath.cli import main

main()
