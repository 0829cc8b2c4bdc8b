"""The OpenSearch client port, its HTTP implementation, and the view of a cluster's state."""
