"""Containers of a Docker daemon as boxes: the daemon makes the namespaces, everything else is as in bubblewrap's
boxes.
"""
