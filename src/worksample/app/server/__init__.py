"""Shared pieces of the server: HTTP, authentication, JSON models, errors, middleware."""
