"""Modes of comparison, one in each module, so that a grader imports only what it needs."""
