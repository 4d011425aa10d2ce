"""Intervals: in closed form, by resampling units, and by resampling trials within instances within tasks."""
