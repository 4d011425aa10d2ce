"""Shared parts of the server: HTTP, authentication, JSON models, errors, middleware."""
