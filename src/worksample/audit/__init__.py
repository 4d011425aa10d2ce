"""A task proven before use: control submissions, cases, leaks, mismatched names, repeatability."""

from .check import AuditConfig, check, check_async
from .finding import Check, Finding, Graded, Report, Severity

__all__ = ["AuditConfig", "Check", "Finding", "Graded", "Report", "Severity", "check", "check_async"]
