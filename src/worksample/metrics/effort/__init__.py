"""Success against effort: budgets, and hours of human work."""
