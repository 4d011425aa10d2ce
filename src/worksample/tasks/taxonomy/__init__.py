"""Categories of work: Upwork (RLI), the domains of Agents' Last Exam, the departments of TheAgentCompany."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
