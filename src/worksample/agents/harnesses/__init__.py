"""Command-line agents that people use, a file each. docs/harnesses.md says how another one is added."""
