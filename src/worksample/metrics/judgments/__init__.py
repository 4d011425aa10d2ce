"""Verdicts from people's votes, and the agreement of votes."""
