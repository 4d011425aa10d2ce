"""Calibration of an experiment's judges: the work that people label, and the work that a judge may decide alone."""
