"""Success against what it took: budgets, and hours of human work."""
