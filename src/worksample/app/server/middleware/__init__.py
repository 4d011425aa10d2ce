"""Middleware that every request passes: host routing, guards, limits, error responses."""
