"""Operators on a cluster: what OLM is asked for, where that stands, and what it waits for.

resources     the objects that ask OLM for an operator
observation   the objects that tell where it stands
chain         from these to sentences: each link's state, what it waits for, what to do
following     observe until it is done, or the time is up
installing, upgrading, uninstalling, removing    what is done to a cluster, in which order
kube          a real cluster; everything else speaks to the port `Cluster`
"""
