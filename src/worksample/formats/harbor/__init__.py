"""Harbor's tasks as packages: what they need, where they can be attempted, and why not where they cannot."""

from .exporting import Exported, ExportHarbor, export_harbor
from .importing import Imported, ImportHarbor, import_harbor

__all__ = ["ExportHarbor", "Exported", "ImportHarbor", "Imported", "export_harbor", "import_harbor"]
