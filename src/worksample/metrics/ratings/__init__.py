"""Elo scores of agents from pairwise preferences."""
