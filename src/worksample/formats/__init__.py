"""Import and export in the formats of other tools: Harbor's and TheAgentCompany's tasks, tables of jobs, UpBench's
tables, trajectories as ATIF, evaluations as training data. Each is an `ExchangeFormat`; other packages can add theirs.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
