"""Import of judgments made elsewhere, and export of evaluations."""
