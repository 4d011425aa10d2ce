"""Judges of an experiment beside people: whose work people label, and what a judge may decide by itself."""
