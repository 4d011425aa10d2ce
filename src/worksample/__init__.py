"""Worksample gives AI agents real, paid work and measures what they deliver.

Importing this package does nothing: every public name is resolved on first use.
"""

__version__ = "0.1.0"
