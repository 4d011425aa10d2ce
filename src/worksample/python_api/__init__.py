"""What the verbs of the command line do, as functions: for scripts, notebooks and other programs.

Everything here is also a name of `worksample` itself. Each function comes with an `async` twin of the same arguments.
"""

from typing import TYPE_CHECKING

from worksample.lazy import lazily

if TYPE_CHECKING:
    from .checking import check, check_async
    from .grading import Graded, grade, grade_async
    from .opening import open_store, task
    from .pictures import Picture
    from .reporting import report, report_async
    from .results import Run
    from .running import resume, resume_async, run, run_async
    from .submitting import submit, submit_async

__all__ = [
    "Graded",
    "Picture",
    "Run",
    "check",
    "check_async",
    "grade",
    "grade_async",
    "open_store",
    "report",
    "report_async",
    "resume",
    "resume_async",
    "run",
    "run_async",
    "submit",
    "submit_async",
    "task",
]

__getattr__ = lazily(__name__)
