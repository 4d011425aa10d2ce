from .table_import import ImportedJobs as ImportedJobs
from .table_import import ImportJobs as ImportJobs
from .table_import import import_jobs as import_jobs
