"""`python -m searchkeeper`."""

from searchkeeper.cli import main

main()
