"""Pages of an evaluator: queues, items, drafts, answers, and the training page before them."""
