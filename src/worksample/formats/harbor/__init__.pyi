from .task_export import ExportedPackage as ExportedPackage
from .task_export import ExportHarbor as ExportHarbor
from .task_export import export_harbor as export_harbor
from .task_import import ImportedHarborTask as ImportedHarborTask
from .task_import import ImportHarbor as ImportHarbor
from .task_import import import_harbor as import_harbor
