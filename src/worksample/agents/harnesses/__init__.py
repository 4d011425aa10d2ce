"""Command-line agents that are in common use, one file each. docs/harnesses.md explains how to add another."""
