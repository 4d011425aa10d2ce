"""An evaluator's work: leases of items, drafts, submitted answers."""
