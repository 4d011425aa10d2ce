from .exporting import ExportedPackage as ExportedPackage
from .exporting import ExportHarbor as ExportHarbor
from .exporting import export_harbor as export_harbor
from .importing import ImportedHarborTask as ImportedHarborTask
from .importing import ImportHarbor as ImportHarbor
from .importing import import_harbor as import_harbor
