"""The dialect of Plane: its REST API (v1) over the tracker, with projects, cycles, modules, issues, states, labels,
members and comments.

There is only one workspace, and every workspace name in an address leads to it. Cycles are versions in the tracker;
modules are categories in the tracker.
"""
