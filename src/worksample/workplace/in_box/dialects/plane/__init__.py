"""Plane's REST API (v1) over the tracker: its projects, cycles, modules, issues, states, labels, members, comments.

There is one workspace, under whatever slug it is asked for. Cycles are the tracker's versions, modules its categories.
"""
