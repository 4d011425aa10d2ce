from .finding import AuditCheck as AuditCheck
from .finding import Finding as Finding
from .finding import GradedControl as GradedControl
from .finding import Report as Report
from .finding import Severity as Severity
from .task_audit import AuditConfig as AuditConfig
from .task_audit import check as check
from .task_audit import check_async as check_async
