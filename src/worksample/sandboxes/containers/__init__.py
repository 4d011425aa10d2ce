"""Boxes that a Docker daemon of this machine makes the namespaces of; all else is as in bubblewrap's."""
