"""Work of evaluators who are people: leases of items, drafts, and submitted answers."""
