"""Assignments of slots to people, computed from events in the store: who has which slot, and whose turn it is."""
