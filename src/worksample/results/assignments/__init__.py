"""Assignments of slots to people: which person has which slot, by events in the store, and whose turn it is."""
