"""Comparisons of two or more agents, and the size of study that detects a difference."""
