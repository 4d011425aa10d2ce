"""Import and export in the formats of other tools: Harbor's and TheAgentCompany's tasks, tables of jobs, UpBench's
tables, trajectories as ATIF, evaluations as training data. Each is a `Format`, and other packages can add their own.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
