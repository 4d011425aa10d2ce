"""Boxes that are containers of a Docker daemon. The daemon makes the namespaces; everything else works as in
bubblewrap's boxes.
"""
