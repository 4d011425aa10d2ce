"""Workstations: the boxes in which people do tasks, with a terminal, files and a timer."""
