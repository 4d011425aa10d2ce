"""Pages on which admins and reviewers run rounds by people: open, watch, flag, import, export."""
