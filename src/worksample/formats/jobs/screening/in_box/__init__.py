"""Runs in a box; knows nothing of the platform but `worksample.viewing.in_box`."""
