"""Rubrics that people write in the app: versions that are only added to, and the rounds that asked them."""
