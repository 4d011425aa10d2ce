"""TheAgentCompany's tasks, from an installed `inspect_evals`: packages out of them, their own evaluators as graders."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
