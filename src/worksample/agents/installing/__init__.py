"""Agents that are programs of their own: installed once by version and digest, shown to boxes read-only."""

from .define import Npm, Program, PyPI
from .folder import Installed, find, installed
from .registry import named, names

__all__ = ["Installed", "Npm", "Program", "PyPI", "find", "installed", "named", "names"]
