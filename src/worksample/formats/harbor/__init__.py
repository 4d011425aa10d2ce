"""Harbor's tasks as packages: what they need, where they can be attempted, and why not where they cannot."""

from .importing import Imported, ImportHarbor, import_harbor

__all__ = ["ImportHarbor", "Imported", "import_harbor"]
