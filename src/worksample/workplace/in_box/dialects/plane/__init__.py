"""Plane's REST API (v1) over the tracker: projects, cycles, modules, issues, states, labels, members, comments.

There is one workspace, under any slug. Cycles are the tracker's versions, modules its categories.
"""
