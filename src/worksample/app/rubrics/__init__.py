"""Rubrics written in the app: versions, checks, and suggestions by a model."""
