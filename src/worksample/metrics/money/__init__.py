"""Figures in dollars: the earnings, costs and value of work."""
