"""Import of TheAgentCompany's tasks as packages, graded by their own evaluators."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
