"""Assignments of people to slots: their state after their events, and whose turn it is."""
