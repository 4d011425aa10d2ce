"""Import and export of the formats of other tools.

Formats: Harbor's tasks, TheAgentCompany's tasks, tables of jobs, UpBench's tables, ATIF trajectories, training data.
Each is an `ExchangeFormat`; other packages add theirs as entry points.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
