"""Import and export in the formats of others: trajectories as ATIF, what was said of work as training data, tasks of
Harbor and TheAgentCompany, lists of jobs, UpBench's tables.
"""
