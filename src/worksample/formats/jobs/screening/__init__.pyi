from .job_examination import JobLook as JobLook
from .job_examination import Looking as Looking
from .job_examination import look_at_jobs as look_at_jobs
