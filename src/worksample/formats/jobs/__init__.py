"""Jobs from marketplaces and firms' own lists, as task packages."""

from .importing import Imported, ImportJobs, import_jobs

__all__ = ["ImportJobs", "Imported", "import_jobs"]
