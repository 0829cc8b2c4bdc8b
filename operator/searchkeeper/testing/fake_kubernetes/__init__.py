"""A Kubernetes in memory: what an API server, its controllers and a kubelet do, as functions of values.

Nothing here waits, reads a clock or throws dice, so that every order of events can be tried, and tried again.
"""
