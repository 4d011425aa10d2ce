"""Figures in US dollars: what agents earn, what their work costs, and what it is worth."""
