"""Several attempts at a task: passes within k, lifts by feedback, the ceiling."""
