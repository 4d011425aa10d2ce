"""Rounds by people: kinds, forms, settings, items and queues."""
