"""Assignments of slots to people: who has which slot, by events in the store, and whose turn it is."""
