"""Modes of comparison, each in a module of its own name that imports only what it needs."""
