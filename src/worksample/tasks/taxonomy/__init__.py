"""Categories of work: those of Upwork (RLI), the domains of Agents' Last Exam, and the departments of
TheAgentCompany.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
