"""Verdicts, votes and submissions, with amendments, as reviewers and admins read them."""
