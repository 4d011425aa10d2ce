"""Verdicts from people's votes, and agreement between the votes."""
