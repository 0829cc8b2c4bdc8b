"""A fake Kubernetes: API server, controllers and kubelet as pure functions of an `ObjectStore`.

Nothing here reads a clock, sleeps or draws random numbers, so that a test can repeat any order of events.
`http_server` alone has threads: it serves the same store to real Kubernetes clients.
"""
