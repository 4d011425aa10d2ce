from .importing import ImportedJobs as ImportedJobs
from .importing import ImportJobs as ImportJobs
from .importing import import_jobs as import_jobs
