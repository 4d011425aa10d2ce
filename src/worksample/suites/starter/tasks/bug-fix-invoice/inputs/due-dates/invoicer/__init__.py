"""Invoices for a small firm."""

__version__ = "2.3.1"
