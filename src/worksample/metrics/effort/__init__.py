"""Success in relation to effort: the budget of a trial, and the hours that a human would need for the work."""
