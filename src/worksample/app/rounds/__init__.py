"""Rounds by people as admins and reviewers run them: open, watch, flag, import, export."""
