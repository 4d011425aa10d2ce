"""Rubrics that people write in the app: their versions, models' suggestions, and the rounds that asked them."""
