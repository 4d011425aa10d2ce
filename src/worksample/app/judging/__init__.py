"""Evaluators at work: queues, items, drafts, answers, and the training page before them."""
