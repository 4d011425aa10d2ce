"""Confidence intervals: by formula, by resampling independent units, and for trials within instances within tasks."""
