from .findings import AuditCheck as AuditCheck
from .findings import Finding as Finding
from .findings import GradedControl as GradedControl
from .findings import Report as Report
from .findings import Severity as Severity
from .task_audit import AuditConfig as AuditConfig
from .task_audit import check as check
from .task_audit import check_async as check_async
