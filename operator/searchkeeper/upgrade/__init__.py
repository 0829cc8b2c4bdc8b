"""Replace the pods of a cluster without losing data, quorum or the ability to roll back."""
