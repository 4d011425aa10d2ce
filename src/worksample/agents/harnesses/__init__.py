"""Command-line agents in common use, one file each. docs/how-to/choose-an-agent.md explains how to add another."""
