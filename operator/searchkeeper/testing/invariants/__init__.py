"""What an operator must never do, as functions of what it did, and all that may go wrong meanwhile."""
