"""Comparisons of two or more agents, and the number of tasks that a study needs to detect a difference."""
