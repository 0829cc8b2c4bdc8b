"""How nodes are replaced without losing a document, a vote or the way back."""
