from .job_examination import JobExamination as JobExamination
from .job_examination import JobExaminer as JobExaminer
from .job_examination import examine_jobs as examine_jobs
