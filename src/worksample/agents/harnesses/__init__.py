"""Harnesses of common command-line agents, one module for each. docs/how-to/choose-an-agent.md explains how to add
another.
"""
