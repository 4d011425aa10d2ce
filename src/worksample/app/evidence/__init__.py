"""Verdicts, votes, submissions and amendments, as reviewers and admins read them."""
