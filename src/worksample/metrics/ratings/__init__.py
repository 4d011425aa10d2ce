"""Elo scores from pairwise preferences."""
