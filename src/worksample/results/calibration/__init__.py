"""Calibration of an experiment's judges: whose work people label, and what a judge may decide alone."""
