"""Figures about repeated attempts at a task: passes within k attempts, lifts by feedback, the ceiling."""
