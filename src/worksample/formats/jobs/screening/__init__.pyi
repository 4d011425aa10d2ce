from .job import JobLook as JobLook
from .job import Looking as Looking
from .job import look_at_jobs as look_at_jobs
