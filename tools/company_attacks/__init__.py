"""Attacks on the graders of a company's tasks: cheats that must earn nothing, and natural variations of right work that
must lose nothing.
"""
