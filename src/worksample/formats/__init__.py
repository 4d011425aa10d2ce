"""Import and export: trajectories as ATIF, the tasks of TheAgentCompany."""
