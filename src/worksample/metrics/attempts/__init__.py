"""Figures about repeated attempts at a task: pass rates within k attempts, gains by feedback, and the highest reachable
pass rate.
"""
